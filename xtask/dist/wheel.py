"""Writes a wheel that holds a program: wheel.py PROGRAM DOCS OUT VERSION TAGS SUMMARY TIME LEVEL"""

import base64, hashlib, pathlib, sys, time, zipfile

program, docs, out, version, tags, summary, epoch, level = sys.argv[1:]
docs = pathlib.Path(docs)
info = f"recoup-{version}.dist-info"
licences = sorted(path for path in docs.iterdir() if path.name.isupper() or path.suffix == ".txt")
metadata = [
    "Metadata-Version: 2.4",
    "Name: recoup",
    f"Version: {version}",
    f"Summary: {summary}",
    "License-Expression: MIT OR Apache-2.0",
    *(f"License-File: {path.name}" for path in licences),
    "Description-Content-Type: text/markdown",
    "",
    (docs / "README.md").read_text(),
]
python, abi, platforms = tags.split("-")
wheel = ["Wheel-Version: 1.0", "Generator: recoup", "Root-Is-Purelib: false"]
wheel += [f"Tag: {python}-{abi}-{platform}" for platform in platforms.split(".")]
files = [(f"recoup-{version}.data/scripts/recoup", pathlib.Path(program).read_bytes(), 0o755)]
files += [(f"{info}/licenses/{path.name}", path.read_bytes(), 0o644) for path in licences]
files += [(f"{info}/METADATA", "\n".join(metadata).encode(), 0o644)]
files += [(f"{info}/WHEEL", "\n".join(wheel + [""]).encode(), 0o644)]
record = ""
for name, content, _ in files:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    record += f"{name},sha256={digest},{len(content)}\n"
files += [(f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644)]
# A zip file knows no time before 1980.
date = time.gmtime(max(int(epoch), 315532800))[:6]
with zipfile.ZipFile(pathlib.Path(out) / f"recoup-{version}-{tags}.whl", "w") as archive:
    for name, content, mode in files:
        entry = zipfile.ZipInfo(name, date)
        entry.external_attr = (0o100000 | mode) << 16
        archive.writestr(entry, content, zipfile.ZIP_DEFLATED, int(level))
