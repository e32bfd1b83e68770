#!/usr/bin/env python3
"""Makes the files of this folder from `sources/`, with programs that others wrote: LibreOffice and qpdf.

Needs LibreOffice with its Python bridge and qpdf (Debian: libreoffice-writer libreoffice-calc libreoffice-impress
python3-uno qpdf; written with LibreOffice 7.4). Run it with the Python that has `uno`:

    /usr/bin/python3 crates/documents/tests/files/make.py

Everything in the files is invented. Their bytes differ from run to run (dates, identifiers, keys), their content does
not. The password of the encrypted ones is `open sesame`.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import uno
from com.sun.star.beans import NamedValue, PropertyValue

HERE = pathlib.Path(__file__).resolve().parent
PASSWORD = "open sesame"
SEQUENCE = "[]com.sun.star.beans.PropertyValue"
# source, result, filter of LibreOffice, password
FILES = [
    ("handbook.fodt", "handbook.docx", "MS Word 2007 XML", None),
    ("handbook.fodt", "handbook.pdf", "writer_pdf_Export", None),
    ("handbook.fodt", "handbook.html", "HTML (StarWriter)", None),
    ("budget.fods", "budget.xlsx", "Calc MS Excel 2007 XML", None),
    ("budget.fods", "budget.pdf", "calc_pdf_Export", None),
    ("launch.fodp", "launch.pptx", "Impress MS PowerPoint 2007 XML", None),
    ("handbook.fodt", "encrypted.docx", "MS Word 2007 XML", PASSWORD),
    ("budget.fods", "encrypted.xlsx", "Calc MS Excel 2007 XML", PASSWORD),
    ("launch.fodp", "encrypted.pptx", "Impress MS PowerPoint 2007 XML", PASSWORD),
]


def properties(**values):
    return tuple(PropertyValue(Name=name, Value=value) for name, value in values.items() if value is not None)


def encryption(password):
    """What the OOXML filters want instead of a password."""
    if password is None:
        return None
    values = (NamedValue(Name="CryptoType", Value="Standard"), NamedValue(Name="OOXPassword", Value=password))
    return uno.Any("[]com.sun.star.beans.NamedValue", values)


def main():
    with tempfile.TemporaryDirectory() as home:
        pipe = f"prospector{time.time_ns()}"
        office = subprocess.Popen(
            ["soffice", "--headless", "--norestore", f"-env:UserInstallation=file://{home}",
             f"--accept=pipe,name={pipe};urp;"])
        try:
            local = uno.getComponentContext()
            resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
            for attempt in range(120):
                try:
                    context = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
                    break
                except Exception:
                    if attempt == 119:
                        sys.exit("LibreOffice does not answer")
                    time.sleep(0.5)
            desktop = context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context)
            for source, result, kind, password in FILES:
                url = (HERE / "sources" / source).as_uri()
                document = desktop.loadComponentFromURL(url, "_blank", 0, properties(Hidden=True))
                settings = properties(FilterName=kind, EncryptionData=encryption(password))
                uno.invoke(document, "storeToURL", ((HERE / result).as_uri(), uno.Any(SEQUENCE, settings)))
                document.close(True)
            desktop.terminate()
        finally:
            office.wait(60)
    # One that anybody may open but not change, and one that asks for a password.
    for result, user in [("restricted.pdf", ""), ("encrypted.pdf", PASSWORD)]:
        subprocess.run(["qpdf", "--encrypt", user, "owner", "256", "--print=none", "--", HERE / "handbook.pdf",
                        HERE / result], check=True)


main()
