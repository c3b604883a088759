"""A small ACE document for tests: every kind of element, and its source."""

import re

SGM = """\
<DOC>
<DOCID> D1 </DOCID>
<DATETIME> 2003-05-15 </DATETIME>
<BODY>
<TEXT>
Anna Keller of Acme &amp; Sons, the director, died in Oslo on Monday.
She had paid five dollars.
</TEXT>
</BODY>
</DOC>
"""
TEXT = re.sub(r"<[^>]*>", "", SGM)


def seq(words: str, *, tag: str = "charseq", said: str | None = None) -> str:
    """A locator of words of the text."""
    begin = TEXT.index(words)
    end = begin + len(words) - (tag == "charseq")
    text = (words if said is None else said).replace("&", "&amp;")
    return f'<{tag} START="{begin}" END="{end}">{text}</{tag}>'


def entity_mention(id_: str, type_: str, extent: str, head: str, more: str = "") -> str:
    return (
        f'<entity_mention ID="{id_}" TYPE="{type_}"{more}>\n<extent>{seq(extent)}</extent>\n'
        f"<head>{seq(head)}</head>\n</entity_mention>\n"
    )


SENTENCE = "Anna Keller of Acme &amp; Sons, the director, died in Oslo on Monday."
BODY = f"""\
<entity ID="E1" TYPE="PER" SUBTYPE="Individual" CLASS="SPC">
{entity_mention("E1-1", "NAM", "Anna Keller of Acme &amp; Sons", "Anna Keller", ' ROLE="PER" LDCATR="FALSE"')}\
{entity_mention("E1-2", "NOM", "the director", "director")}\
{entity_mention("E1-3", "PRO", "She", "She", ' METONYMY_MENTION="FALSE" LDCTYPE="WHQ"')}\
<entity_attributes>
<name NAME="Anna Keller">{seq("Anna Keller")}</name>
</entity_attributes>
<external_link RESOURCE="wiki" EID="Q1"/>
</entity>
<entity ID="E2" TYPE="ORG" SUBTYPE="Commercial" CLASS="SPC">
{entity_mention("E2-1", "NAM", "Acme &amp; Sons", "Acme &amp; Sons")}\
</entity>
<entity ID="E3" TYPE="GPE" SUBTYPE="Population-Center" CLASS="SPC">
{entity_mention("E3-1", "NAM", "Oslo", "Oslo")}\
</entity>
<value ID="V1" TYPE="Numeric" SUBTYPE="Money">
<value_mention ID="V1-1">
<extent>{seq("five dollars")}</extent>
</value_mention>
</value>
<timex2 ID="T1" VAL="2003-05-12" MOD="APPROX" ANCHOR_VAL="2003-05-15" ANCHOR_DIR="AS_OF" SET="YES" COMMENT="sic">
<timex2_mention ID="T1-1">
<extent>{seq("Monday")}</extent>
</timex2_mention>
</timex2>
<timex2 ID="T2" VAL="2003-05-15">
<timex2_mention ID="T2-1">
<extent>{seq("2003-05-15")}</extent>
</timex2_mention>
</timex2>
<relation ID="R1" TYPE="ORG-AFF" SUBTYPE="Employment" MODALITY="Asserted" TENSE="Past">
<relation_argument REFID="E1" ROLE="Arg-1"/>
<relation_argument REFID="E2" ROLE="Arg-2"/>
<relation_argument REFID="T1" ROLE="Time-Within"/>
<relation_mention ID="R1-1" LEXICALCONDITION="Preposition">
<extent>{seq("Anna Keller of Acme &amp; Sons")}</extent>
<relation_mention_argument REFID="E1-1" ROLE="Arg-1"><extent>{seq("Anna Keller")}</extent></relation_mention_argument>
<relation_mention_argument REFID="E2-1" ROLE="Arg-2"/>
<relation_mention_argument REFID="T1-1" ROLE="Time-Within"/>
</relation_mention>
</relation>
<relation ID="R2" TYPE="METONYMY" MODALITY="Asserted" TENSE="Unspecified">
<relation_argument REFID="E2" ROLE="Arg-1"/>
<relation_argument REFID="E3" ROLE="Arg-2"/>
</relation>
<event ID="V2" TYPE="Life" SUBTYPE="Die" MODALITY="Asserted" POLARITY="Positive" GENERICITY="Specific" TENSE="Past">
<event_argument REFID="E1" ROLE="Victim"/>
<event_argument REFID="T1" ROLE="Time-Within"/>
<event_mention ID="V2-1" LEVEL="SEN">
<extent>{seq(SENTENCE)}</extent>
<ldc_scope>{seq("died in Oslo on Monday")}</ldc_scope>
<anchor>{seq("died")}</anchor>
<event_mention_argument REFID="E1-1" ROLE="Victim"><extent>{seq("Anna Keller of Acme &amp; Sons")}</extent>
</event_mention_argument>
<event_mention_argument REFID="T1-1" ROLE="Time-Within"/>
</event_mention>
</event>
"""


def apf(body: str = BODY, *, header: str = 'URI="D1.sgm" SOURCE="newswire" TYPE="text"', docid: str = "D1") -> str:
    """A file with one document; its body begins in line 6."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE source_file SYSTEM "http://nowhere.invalid/apf.v5.1.1.dtd">\n'
        f'<source_file {header}>\n<external_resource URN="urn:wiki" NAME="wiki"/>\n'
        f'<document DOCID="{docid}">\n{body}</document>\n</source_file>\n'
    )


def document(id_: str, *, source: str = "newswire", body: str = BODY) -> str:
    """The small document under another id, and with ids of its own."""
    named = re.sub(r'( ID| REFID)="', rf'\1="{id_}-', body)
    return apf(named, docid=id_, header=f'URI="{id_}.sgm" SOURCE="{source}" TYPE="text"')
