package crawl

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/store/crawllog"
	"orbweaver/internal/simweb"
)

// library is a guest: a site with a page that names a PDF document of 3 MiB, and with pages that the document names.
type library struct {
}

// Host implements simweb.Guest.
func (*library) Host(name string) (address netip.Addr, ok bool) {
	return netip.AddrFrom4([4]byte{198, 51, 100, 1}), name == "site.test"
}

// Serve implements simweb.Guest.
func (*library) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	reply := simweb.GuestReply{Status: 200, Type: "text/html", Body: []byte("<p>text of " + r.Path)}
	switch r.Path {
	case "/robots.txt":
		reply.Status = 404
	case "/":
		reply.Body = []byte("<a href=doc/report.pdf>report</a>")
	case "/doc/report.pdf":
		reply.Type, reply.Body = "application/pdf", document()
	}
	return reply.Send(conn)
}

// document returns a PDF document with an image of 3 MiB, and links in plain objects and in a stream behind it.
func document() []byte {
	var f, packed bytes.Buffer
	fmt.Fprintf(&f, "%%PDF-1.7\n3 0 obj<</Length %d>>stream\n", 3<<20)
	f.Write(make([]byte, 3<<20))
	f.WriteString("\nendstream endobj\n4 0 obj<</A<</S/URI/URI(/plain)>>>>endobj\n")
	w := zlib.NewWriter(&packed)
	_, _ = w.Write([]byte("5 0 <</A<</S/URI/URI(http://site.test/packed)>>>>"))
	_ = w.Close()
	fmt.Fprintf(&f, "6 0 obj<</Type/ObjStm/N 1/First 4/Filter/FlateDecode/Length %d>>stream\n%s\nendstream endobj\n",
		packed.Len(), packed.Bytes())
	f.WriteString("7 0 obj<</S/GoToR/F(../other.html)>>endobj 8 0 obj<</S/URI/URI(http://else.example/)>>endobj\n")
	f.WriteString("trailer<</Root 1 0 R>>\n")
	return f.Bytes()
}

// The links of a PDF document are followed as those of a page are, also if it is too long for memory. They must be in
// scope. --pdf-links off leaves them out.
func TestPDF_linksAreFollowedWithinTheScope(t *testing.T) {
	for _, mode := range []admission.PDFLinksMode{admission.PDFLinksOn, admission.PDFLinksOff} {
		synctest.Test(t, func(t *testing.T) {
			g, rig := &library{}, oneWorld(t)
			rig.World.Invite(g)
			cfg := engine.Simulation()
			cfg.Seeds, cfg.Filters.Scope, cfg.Admission.PDFLinks = testbed.Seeds{"http://site.test/"}, "domain", mode
			r, err := rig.Crawl(t.Context(), cfg, rig.FS)
			if err := errors.Join(err, rig.Net.Close()); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"http://site.test/": "ok ", "http://site.test/doc/report.pdf": "ok L"}
			if mode == admission.PDFLinksOn {
				for _, path := range []string{"plain", "packed", "other.html"} {
					want["http://site.test/"+path] = "ok LL"
				}
			}
			got := final(t, rig)
			if searched := r.PDFsParsed == 1; !maps.Equal(got, want) || searched != (mode == admission.PDFLinksOn) {
				t.Errorf("mode %d: %v, want %v; %d documents", mode, got, want, r.PDFsParsed)
			}
		})
	}
}

// oneWorld is a rig with nothing but guests.
func oneWorld(t *testing.T) *testbed.Rig {
	t.Helper()
	return testbed.MustRig(t, simweb.Config{Hosts: 1, Graph: simweb.Graph{PagesPerHostMean: 1}}, false)
}

// final returns the final lines of crawl.log by URL.
func final(t *testing.T, rig *testbed.Rig) map[string]string {
	t.Helper()
	lines := map[string]string{}
	_, err := crawllog.Read(t.Context(), rig.FS, "crawl/logs", crawllog.Position{}, func(l *crawllog.Line) error {
		if l.IsFinal() {
			lines[string(l.URL)] = fmt.Sprintf("%s %s", l.Outcome, l.Hops)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
