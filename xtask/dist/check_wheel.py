"""Compares a wheel's RECORD with its content: every file is listed, and is as it is listed."""

import base64, csv, hashlib, io, sys, zipfile

with zipfile.ZipFile(sys.argv[1]) as wheel:
    names = wheel.namelist()
    record = next(name for name in names if name.endswith(".dist-info/RECORD"))
    rows = list(csv.reader(io.StringIO(wheel.read(record).decode())))
    assert sorted(row[0] for row in rows) == sorted(names), "RECORD and content differ"
    for name, digest, size in rows:
        if name == record:
            assert (digest, size) == ("", ""), "RECORD lists a digest of itself"
            continue
        content = wheel.read(name)
        kind, value = digest.split("=", 1)
        found = base64.urlsafe_b64encode(hashlib.new(kind, content).digest()).rstrip(b"=")
        assert (found.decode(), str(len(content))) == (value, size), f"{name} is not as listed"
