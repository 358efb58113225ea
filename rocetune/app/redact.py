"""What must not leave the site in a bundle: secrets always, addresses on demand.

A line is cut from the first word that announces a secret to its end; too much is better than too little, and nothing
of the next line is touched. JSON keeps its structure: only the value is replaced.
"""

from __future__ import annotations

import re

REMOVED = "<removed>"
_WORDS = (
    "secret|password|passwd|passphrase|passkey|community|community-name|key-string|pre-shared-key|psk|token|credential|"
    "authentication-key|message-digest-key|authentication text|auth-key|shared-secret|private-key|auth(?= (?:md5|sha))|"
    "priv(?= (?:aes|des))"
)
# A bare "key" announces a secret only in lines of these features.
_KEYED = r"(?:tacacs|radius|ntp|isis|ip ospf|ospf|neighbor|router|ldap|key)"
_TEXT = re.compile(rf"(?i)^(?P<kept>(?:.*?\b(?:{_WORDS})\b|\s*{_KEYED}\b.*?\bkey\b)[ :=]*)(?P<secret>\S.*)$")
_JSON_WORDS = "secret|passw|passkey|passphrase|community|auth_key|priv_key|auth_pass|priv_pass|token|psk|credential"
_JSON = re.compile(rf'(?i)("[^"]*(?:{_JSON_WORDS})[^"]*"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|[^\s,{{}}\[\]"]+)')
_ADDRESS = re.compile(
    r"\b(?:\d{1,3}\.){3}\d{1,3}\b"
    r"|\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b"
    r"|\b(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}\b"
    r"|(?<![\w:])(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}(?![\w:])"
    r"|(?<![\w:])(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,6})?::(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,6})?(?![\w:])",
    re.IGNORECASE,
)


def secrets_removed(text: str) -> str:
    """The text without values that look like secrets."""
    return "\n".join(_line(line) for line in text.split("\n"))


def addresses_removed(text: str) -> str:
    """The text with IPv4, IPv6 and MAC addresses replaced."""
    return _ADDRESS.sub("<address>", text)


def _line(line: str) -> str:
    if '":' in line or '" :' in line:
        return _JSON.sub(rf'\1"{REMOVED}"', line)
    return _TEXT.sub(rf"\g<kept>{REMOVED}", line)
