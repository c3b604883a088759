"""What systems are called in reports: by their names, or, in a blind phase, by pseudonyms."""

import hashlib
import hmac
import re
from typing import NamedTuple

from karat.campaign.layouts import Submission


class Naming(NamedTuple):
    """Names of systems and sites.

    A pseudonym depends on the site and on `secret`, so it stays the same from run to run, whatever is submitted later.
    The secret is the hash of gold, which nobody but the organisers has during a blind phase.
    """

    secret: str | None = None
    """None: real names."""

    @property
    def is_blind(self) -> bool:
        """Whether names are hidden."""
        return self.secret is not None

    def site(self, submission: Submission) -> str:
        """The name of the site."""
        if self.secret is None:
            return submission.site
        digest = hmac.new(self.secret.encode(), submission.site.lower().encode(), hashlib.sha256)
        return f"site-{digest.hexdigest()[:8]}"

    def system(self, submission: Submission) -> str:
        """The name of the system: in place of the site's name, its pseudonym."""
        if self.secret is None:
            return submission.system
        rest = submission.system.removeprefix(submission.site)
        return f"{self.site(submission)}{'' if not rest or rest.startswith('_') else '-'}{rest}"

    def hidden(self, submission: Submission, text: str) -> str:
        """Text about a submission without its names."""
        if self.secret is None:
            return text
        names = sorted({submission.system, submission.site}, key=len, reverse=True)
        return re.sub("|".join(map(re.escape, names)), self.site(submission), text, flags=re.IGNORECASE)
