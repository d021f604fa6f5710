"""Files that are really encrypted, made when a test needs them: PDF, zip and Office files."""

from __future__ import annotations

import hashlib
import io
import re
import struct
import zipfile
import zlib

_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
_ID = b"0123456789abcdef"
_RIGHTS = -4


def _rc4(key: bytes, data: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def _padded(password: str) -> bytes:
    return (password.encode() + _PADDING)[:32]


def encrypted_pdf(plain: bytes, user: str, owner: str = "owner") -> bytes:
    """A PDF of `ingest_files.pdf` whose streams and texts are encrypted; `user` "" opens without a password."""
    owner_entry = _rc4(hashlib.md5(_padded(owner)).digest()[:5], _padded(user))
    key = hashlib.md5(_padded(user) + owner_entry + struct.pack("<i", _RIGHTS) + _ID).digest()[:5]
    user_entry = _rc4(key, _PADDING)

    def hidden(match: re.Match[bytes]) -> bytes:
        number = int(match[1])
        own = hashlib.md5(key + struct.pack("<I", number)[:3] + b"\0\0").digest()[:10]
        body = re.sub(
            rb"stream\n(.*)\nendstream",
            lambda found: b"stream\n" + _rc4(own, found[1]) + b"\nendstream",
            match[2],
            flags=re.DOTALL,
        )
        if b"stream" not in body:
            body = re.sub(rb"\(([^)]*)\)", lambda found: b"<" + _rc4(own, found[1]).hex().encode() + b">", body)
        return b"%d 0 obj\n%s\nendobj\n" % (number, body)

    objects = re.sub(rb"(\d+) 0 obj\n(.*?)\nendobj\n", hidden, plain[: plain.index(b"xref\n")], flags=re.DOTALL)
    places = [match.start() for match in re.finditer(rb"(?m)^\d+ 0 obj$", objects)]
    table = b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
    table += b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = plain[plain.index(b"trailer\n<< ") + 11 : plain.index(b" >>\nstartxref")]
    encrypt = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P %d /O <%s> /U <%s> >> /ID [<%s> <%s>]" % (
        _RIGHTS,
        owner_entry.hex().encode(),
        user_entry.hex().encode(),
        _ID.hex().encode(),
        _ID.hex().encode(),
    )
    return objects + table + b"trailer\n<< %s %s >>\nstartxref\n%d\n%%%%EOF\n" % (trailer, encrypt, len(objects))


def encrypted_zip(files: dict[str, bytes], password: bytes) -> bytes:
    """A zip whose members are encrypted, as `zipfile` decrypts them."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, bytes(12) + data)
    made = bytearray(out.getvalue())
    for signature, flags, crc, sizes in ((b"PK\3\4", 6, 14, 18), (b"PK\1\2", 8, 16, 20)):
        at = -1
        for data in files.values():
            at = made.index(signature, at + 1)
            made[at + flags] |= 1
            struct.pack_into("<I", made, at + crc, zlib.crc32(data))
            struct.pack_into("<II", made, at + sizes, len(data) + 12, len(data))
            if signature == b"PK\3\4":
                start = (
                    at + 30 + struct.unpack_from("<H", made, at + 26)[0] + struct.unpack_from("<H", made, at + 28)[0]
                )
                head = bytes(11) + bytes([zlib.crc32(data) >> 24])
                made[start : start + 12 + len(data)] = _zip_cipher(password, head + data)
    return bytes(made)


def _zip_cipher(password: bytes, data: bytes) -> bytes:
    keys = [0x12345678, 0x23456789, 0x34567890]

    def crc(value: int, byte: int) -> int:
        return ~zlib.crc32(bytes([byte]), ~value & 0xFFFFFFFF) & 0xFFFFFFFF

    def turn(byte: int) -> None:
        keys[0] = crc(keys[0], byte)
        keys[1] = ((keys[1] + (keys[0] & 255)) * 134775813 + 1) & 0xFFFFFFFF
        keys[2] = crc(keys[2], keys[1] >> 24)

    for byte in password:
        turn(byte)
    out = bytearray()
    for byte in data:
        mixed = keys[2] | 2
        out.append(byte ^ ((mixed * (mixed ^ 1) >> 8) & 255))
        turn(byte)
    return bytes(out)


def encrypted_office(plain: bytes) -> bytes:
    """What Office saves with a password: a compound file with the streams EncryptionInfo and EncryptedPackage."""
    info = struct.pack("<HHI", 4, 4, 0x40) + b'<?xml version="1.0" encoding="UTF-8"?><encryption/>'.ljust(4096)
    package = struct.pack("<Q", len(plain)) + _rc4(b"a key that nobody knows", plain).ljust(8192, b"\0")
    sectors, chains = bytearray(), []
    for stream in (info, package):
        count = -(-len(stream) // 512)
        chains.append((len(sectors) // 512, count, len(stream)))
        sectors += stream.ljust(count * 512, b"\0")
    directory = len(sectors) // 512
    entries = [_entry("Root Entry", 5, 1, 0xFFFFFFFE, 0)]
    entries.append(_entry("EncryptedPackage", 2, 2, chains[1][0], chains[1][2]))
    entries.append(_entry("EncryptionInfo", 2, 0xFFFFFFFF, chains[0][0], chains[0][2]))
    sectors += b"".join(entries).ljust(512, b"\0")
    table = [0xFFFFFFFF] * 128
    for start, count, _ in [*chains, (directory, 1, 0)]:
        for number in range(start, start + count):
            table[number] = number + 1 if number + 1 < start + count else 0xFFFFFFFE
    fat = len(sectors) // 512
    assert fat < 128
    table[fat] = 0xFFFFFFFD
    sectors += struct.pack("<128I", *table)
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    head += struct.pack("<IIIIIIIII", 0, 1, directory, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    return head + struct.pack("<109I", fat, *[0xFFFFFFFF] * 108) + bytes(sectors)


def _entry(name: str, kind: int, other: int, start: int, size: int) -> bytes:
    text = name.encode("utf-16-le") + b"\0\0"
    child, right = (other, 0xFFFFFFFF) if kind == 5 else (0xFFFFFFFF, other)
    head = text.ljust(64, b"\0") + struct.pack("<HBB", len(text), kind, 1)
    return head + struct.pack("<III", 0xFFFFFFFF, right, child) + bytes(36) + struct.pack("<IQ", start, size)
