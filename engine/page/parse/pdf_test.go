package parse

import "testing"

// pdfWithLinks is a PDF document with a base and four links.
const pdfWithLinks = "%PDF-1.4\n1 0 obj<</URI<</Base(http://base.test/)>>>>endobj\n" +
	"2 0 obj<</S/URI/URI(/a?\xFC)>>endobj\n3 0 obj<</S/URI/URI(mailto:a@b.test)>>endobj\n" +
	"4 0 obj<</S/URI/URI(http://c.test/)>>endobj\n5 0 obj<</S/URI/URI()>>endobj\ntrailer<<>>"

// The links of PDF files are found if they are asked for, by the media type alone.
func TestPDF_linksAreFoundByOption(t *testing.T) {
	for media, want := range map[string]string{
		"application/pdf": "pdf:/a?ü pdf:http://c.test/", "Application/PDF; x=y": "pdf:/a?ü pdf:http://c.test/",
		"application/x-pdf": "pdf:/a?ü pdf:http://c.test/", "application/octet-stream": "", "text/plain": "",
	} {
		if got := linksWith(t, Options{PDF: true}, pdfWithLinks, media); got != want {
			t.Errorf("%s: %q", media, got)
		}
	}
	if got := linksWith(t, Options{}, pdfWithLinks, "application/pdf"); got != "" {
		t.Errorf("without the option: %q", got)
	}
}

// A PDF file after a page in another character set is read as if it came first.
func TestPDF_afterAPageInAnotherCharacterSet(t *testing.T) {
	s := NewScanner(Options{PDF: true})
	for range 2 {
		r, err := s.Scan([]byte(pdfWithLinks), []byte("application/pdf"))
		if err != nil || r.Format != PDFFile || string(r.Base) != "http://base.test/" || r.LinksForeign != 1 ||
			len(r.Links) != 2 || string(r.Links[0].Ref) != "/a?ü" {
			t.Errorf("%+v (%v)", r, err)
		}
		r, err = s.Scan([]byte("<a href='/b?\xFC\xA1'>"), []byte("text/html; charset=gbk"))
		if err != nil || len(r.Links) != 1 || r.Base != nil {
			t.Errorf("%+v (%v)", r, err)
		}
	}
}
