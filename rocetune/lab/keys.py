"""Keys of the lab: SSH host keys, a client key, a small certificate authority, the password.

All are made once per lab folder and kept there, readable by their owner only. They protect loopback sockets
of emulated devices and nothing else.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
import secrets
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

HOST = "127.0.0.1"
USERNAME = "admin"
CA_FILE = "ca.pem"
SERVER_FILE = "server.pem"
CLIENT_KEY = "client_ed25519"
KNOWN_HOSTS = "known_hosts"


def store(path: Path, content: bytes) -> None:
    """Write a private file: mode 0600, complete or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
    draft.replace(path)


def password(root: Path) -> str:
    """The random password of this lab."""
    path = root / "password"
    if not path.exists():
        store(path, secrets.token_urlsafe(18).encode())
    return path.read_text()


def ssh_key(path: Path) -> bytes:
    """An Ed25519 private key in OpenSSH form, made at first use."""
    if not path.exists():
        store(
            path,
            ed25519.Ed25519PrivateKey.generate().private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
            ),
        )
    return path.read_bytes()


def public_line(private: bytes) -> str:
    """The public half of :func:`ssh_key` as in known_hosts and authorized_keys."""
    key = serialization.load_ssh_private_key(private, password=None)
    return key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH).decode()


def certificate(root: Path) -> tuple[Path, Path]:
    """(CA certificate, server certificate with key) for 127.0.0.1, made at first use and when about to expire."""
    ca_path, server_path = root / CA_FILE, root / SERVER_FILE
    now = datetime.datetime.now(datetime.UTC)
    if ca_path.exists() and server_path.exists():
        kept = x509.load_pem_x509_certificate(ca_path.read_bytes())
        if kept.not_valid_after_utc > now + datetime.timedelta(days=1):
            return ca_path, server_path
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "rocetune lab (loopback emulation)")])
    ca = _builder(ca_name, ca_name, ca_key.public_key(), ca_key.public_key(), now, ca=True).sign(
        ca_key, hashes.SHA256()
    )
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    leaf = (
        _builder(name, ca_name, key.public_key(), ca_key.public_key(), now, ca=False)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST)), x509.DNSName("localhost")]), False
        )
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
        .sign(ca_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    store(server_path, private + leaf.public_bytes(pem))
    store(ca_path, ca.public_bytes(pem))
    return ca_path, server_path


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    issuer_key: ec.EllipticCurvePublicKey,
    now: datetime.datetime,
    *,
    ca: bool,
) -> x509.CertificateBuilder:
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=ca,
        crl_sign=ca,
        encipher_only=False,
        decipher_only=False,
    )
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=365))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=0 if ca else None), True)
        .add_extension(usage, True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), False)
    )
