package crawl

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/operate/report"
	"orbweaver/internal/simweb/guest"
	"orbweaver/internal/vfs"
)

// hostFiles is a guest: hosts whose files a test writes, by URL without scheme. The first line of a file is its media
// type.
type hostFiles map[string]string

// Host implements guest.Guest.
func (s hostFiles) Host(name string) (address netip.Addr, ok bool) {
	for url := range s {
		if host, _, _ := strings.Cut(url, "/"); host == name {
			return netip.AddrFrom4([4]byte{198, 51, 100, name[0]}), true
		}
	}
	return netip.Addr{}, false
}

// Serve implements guest.Guest.
func (s hostFiles) Serve(conn net.Conn, r guest.Request) guest.Result {
	media, body, ok := strings.Cut(s[r.Authority+r.Path], "\n")
	reply := guest.Reply{Status: 200, Type: media, Body: []byte(body)}
	if !ok {
		reply.Status = 404
	}
	return reply.Send(conn)
}

// html is a page, a text that differs from all others.
func html(body string) string { return "text/html\n<p>" + body + "</p>" }

// crawlFiles crawls from http://a.test/ and returns the final lines, the rows of the report of hops, and the report.
func crawlFiles(t *testing.T, s hostFiles, change func(*engine.Config)) (
	lines map[string]string, hops string, r report.Report,
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rig := oneWorld(t)
		rig.World.Invite(s)
		cfg := engine.Simulation()
		cfg.Seeds, cfg.Filters.Scope = testbed.Seeds{"http://a.test/"}, "domain"
		cfg.Admission.Speculative = admission.SpeculativeOn
		change(&cfg)
		var err error
		r, err = rig.Crawl(t.Context(), cfg, rig.FS)
		if err := errors.Join(err, rig.Net.Close()); err != nil {
			t.Fatal(err)
		}
		lines, hops = map[string]string{}, hopRows(t, rig.FS)
		for url, line := range final(t, rig) {
			lines[strings.TrimPrefix(url, "http://")] = line
		}
	})
	return lines, hops, r
}

func withoutSpeculative(c *engine.Config) { c.Admission.Speculative = admission.SpeculativeOff }

// hopRows is the report of hops, without bytes: hop, URLs, pages, duplicates, client errors.
func hopRows(t *testing.T, disk vfs.FS) (rows string) {
	t.Helper()
	r, err := logreport.Make(t.Context(), disk, "crawl", []logreport.Kind{logreport.Hops}, logreport.Options{
		Temp: vfs.NewMem(1), TempDir: "t",
	})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Each(t.Context(), logreport.Hops, func(row []string) error {
		rows += strings.Join(row[:5], " ") + "\n"
		return nil
	})
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return rows
}

// wantLines compares the final lines of a crawl. Each line of want is a URL without scheme, its outcome and its hops.
func wantLines(t *testing.T, got map[string]string, want string) {
	t.Helper()
	wanted := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(want)) {
		url, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.Contains(rest, " ") {
			rest += " "
		}
		wanted[url] = rest
	}
	if !maps.Equal(got, wanted) {
		t.Errorf("lines\n%v\nwant\n%v", got, wanted)
	}
}

// startPages are hosts whose start page leads on by a script alone, each in its own way, to one page beside it.
func startPages() hostFiles {
	s := hostFiles{}
	root := ""
	for i, start := range []string{
		`<script>window.location = "in.html"</script>`,
		`<script>document.location.replace("/in.html")</script>`,
		`<script>setTimeout("top.location.href='in.html'", 9)</script>`,
		`<body onload="go('in.html')">`,
		`<button onclick="location='/in.html'">in</button>`,
		`<a href="javascript:location.href=%27in.html%27">in</a>`,
		`<select onchange="location=this.value"><option value="in.html">in</option></select>`,
		`<script>location.href="\u002Fin.html"</script>`,
		`<script>data = {"next": "\/in.html"}</script>`,
		`<script>fetch("http://HOST/in.html")</script>`,
		`<script type=module>import "./app.js"</script>`,
	} {
		host := fmt.Sprintf("%c.a.test", 'b'+i)
		root += "<a href=http://" + host + ">" + host + "</a>"
		s[host+"/"] = html("welcome to " + host + strings.ReplaceAll(start, "HOST", host))
		s[host+"/in.html"] = html("the inner page of " + host)
	}
	s["l.a.test/app.js"] = "text/javascript\nexport * from './lib/rooms.js'"
	s["l.a.test/lib/rooms.js"] = `text/javascript` + "\n" + `const rooms = ["http://l.a.test/in.html"]`
	s["a.test/"] = html(root)
	return s
}

// Start pages that lead on by a script alone are left by it: by a location, a handler, a javascript: URL, the options
// of a menu, a string with escapes, and modules, which are page requisites. All of it is one hop X. --speculative off
// leaves the start pages where they are.
func TestSources_scriptsLeadOn(t *testing.T) {
	lines, hops, _ := crawlFiles(t, startPages(), func(*engine.Config) {})
	want := "a.test/ ok\nl.a.test/app.js ok LE\nl.a.test/lib/rooms.js ok LEE\n"
	for c := 'b'; c <= 'l'; c++ {
		want += fmt.Sprintf("%c.a.test/ ok L\n%c.a.test/in.html ok LX\n", c, c)
	}
	wantLines(t, lines, want)
	if hops != "- 1 1 0 0\nE 2 2 0 0\nL 11 11 0 0\nX 11 11 0 0\n" {
		t.Errorf("the report of hops:\n%s", hops)
	}
	lines, hops, _ = crawlFiles(t, startPages(), withoutSpeculative)
	if len(lines) != 12 || hops != "- 1 1 0 0\nL 11 11 0 0\n" {
		t.Errorf("with --speculative off: %v\n%s", lines, hops)
	}
}

// A page with thousands of strings that look like URLs costs its site a bounded number of requests, which are in the
// report: they lead nowhere.
func TestSources_scriptsLeadToABoundedNumberOfURLs(t *testing.T) {
	list := "text/html\n<script>all = ["
	for i := range 3000 {
		list += fmt.Sprintf(`"/no/%d.html",`, i)
	}
	_, hops, _ := crawlFiles(t, hostFiles{"a.test/": list + "]</script>"}, func(*engine.Config) {})
	if hops != "- 1 1 0 0\nX 1000 0 0 1000\n" {
		t.Errorf("the report of hops:\n%s", hops)
	}
}

// cinema is a site with a film in HLS on another host, and one in DASH.
func cinema() hostFiles {
	return hostFiles{
		"a.test/": html(`<video src="http://cdn.test/v/master.m3u8"></video><video src="/dash/film.mpd"></video>`),
		"cdn.test/v/master.m3u8": "application/vnd.apple.mpegurl\n#EXTM3U\n" +
			`#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",URI="sound/de.m3u8"` + "\n#EXT-X-STREAM-INF:BANDWIDTH=9\nlow/index.m3u8\n",
		"cdn.test/v/sound/de.m3u8": "application/vnd.apple.mpegurl\n#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.aac\n",
		"cdn.test/v/low/index.m3u8": "application/vnd.apple.mpegurl\n#EXTM3U\n#EXT-X-TARGETDURATION:4\n" +
			`#EXT-X-KEY:METHOD=AES-128,URI="../key"` + "\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n/v/low/1.ts\n#EXT-X-ENDLIST\n",
		"cdn.test/v/sound/0.aac": "audio/aac\nsound", "cdn.test/v/key": "application/octet-stream\n0123456789abcdef",
		"cdn.test/v/low/0.ts": "video/mp2t\nfirst", "cdn.test/v/low/1.ts": "video/mp2t\nsecond",
		"a.test/dash/film.mpd": `application/dash+xml` + "\n" + `<MPD mediaPresentationDuration="PT8S"><Period>` +
			`<AdaptationSet><SegmentTemplate timescale="1" duration="4" initialization="$RepresentationID$/init.mp4" ` +
			`media="$RepresentationID$/$Number$.m4s"/><Representation id="hd"/></AdaptationSet></Period></MPD>`,
		"a.test/dash/hd/init.mp4": "video/mp4\nhead", "a.test/dash/hd/1.m4s": "video/mp4\none",
		"a.test/dash/hd/2.m4s": "video/mp4\ntwo",
	}
}

// A film is sent in pieces, from any host. Its lists, its pieces, its sound and its key are requisites of the page that
// shows it. With --requisites off they are links, and stay within the scope.
func TestSources_filmsAreFetchedWhole(t *testing.T) {
	lines, hops, r := crawlFiles(t, cinema(), func(*engine.Config) {})
	wantLines(t, lines, `a.test/ ok
		cdn.test/v/master.m3u8 ok E
		cdn.test/v/sound/de.m3u8 ok EE
		cdn.test/v/low/index.m3u8 ok EE
		cdn.test/v/sound/0.aac ok EEE
		cdn.test/v/key ok EEE
		cdn.test/v/low/0.ts ok EEE
		cdn.test/v/low/1.ts ok EEE
		a.test/dash/film.mpd ok E
		a.test/dash/hd/init.mp4 ok EE
		a.test/dash/hd/1.m4s ok EE
		a.test/dash/hd/2.m4s ok EE`)
	if hops != "- 1 1 0 0\nE 11 11 0 0\n" || r.RequisitesStored != 11 || r.PagesStored != 12 {
		t.Errorf("%d of %d pages are requisites; the report of hops:\n%s", r.RequisitesStored, r.PagesStored, hops)
	}
	lines, _, _ = crawlFiles(t, cinema(), func(c *engine.Config) { c.Admission.Requisites = admission.RequisitesOff })
	wantLines(t, lines, `a.test/ ok
		a.test/dash/film.mpd ok L
		a.test/dash/hd/init.mp4 ok LL
		a.test/dash/hd/1.m4s ok LL
		a.test/dash/hd/2.m4s ok LL`)
}

// A long film costs no more than --max-requisites-per-page. The rest has its outcome.
func TestSources_filmsAreBounded(t *testing.T) {
	film := "application/x-mpegurl\n#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
	s := hostFiles{"a.test/": html(`<video src=film.m3u8>`)}
	for i := range 30 {
		film += fmt.Sprintf("#EXTINF:4,\n%d.ts\n", i)
		s[fmt.Sprintf("a.test/%d.ts", i)] = fmt.Sprintf("video/mp2t\npiece %d", i)
	}
	s["a.test/film.m3u8"] = film
	lines, _, r := crawlFiles(t, s, func(c *engine.Config) { c.Admission.MaxRequisites = 10 })
	if r.RequisitesStored != 11 || r.Outcomes["quota-requisites"] != 20 || lines["a.test/9.ts"] != "ok EE" {
		t.Errorf("%d requisites, %v, %v", r.RequisitesStored, r.Outcomes, lines)
	}
}

// A feed in JSON leads to its entries, their pictures and attachments, and to what their HTML has. A manifest has icons
// and a start page. What other JSON has is speculative.
func TestSources_jsonLeadsOn(t *testing.T) {
	s := hostFiles{
		"a.test/": html(`<link rel=alternate type=application/feed+json href=feed.json>` +
			`<link rel=manifest href=app/site.json><a href=api>x</a>`),
		"a.test/feed.json": `application/feed+json` + "\n" + `{"version":"https://jsonfeed.org/version/1.1",` +
			`"items":[{"url":"entry","image":"entry.png","attachments":[{"url":"talk.mp3"}],` +
			`"content_html":"<a href='/told'>t</a><img src=seen.png>"}]}`,
		"a.test/app/site.json": "application/manifest+json\n" + `{"start_url":"start","icons":[{"src":"icon.png"}]}`,
		"a.test/api":           "application/vnd.api+json\n" + `{"links":{"next":"/api/2.json"},"id":"a/b"}`,
		"a.test/api/2.json":    "application/json\n" + `{"links":{"self":"http://a.test/deep/"}}`,
		"a.test/entry":         html("entry"), "a.test/told": html("told"), "a.test/app/start": html("start"),
		"a.test/deep/": html("deep"), "a.test/entry.png": "image/png\n1", "a.test/seen.png": "image/png\n2",
		"a.test/talk.mp3": "audio/mpeg\n3", "a.test/app/icon.png": "image/png\n4",
	}
	const always = `a.test/ ok
		a.test/feed.json ok L
		a.test/entry ok LL
		a.test/told ok LL
		a.test/entry.png ok LE
		a.test/seen.png ok LE
		a.test/talk.mp3 ok LE
		a.test/app/site.json ok E
		a.test/app/start ok L
		a.test/app/icon.png ok EE
		a.test/api ok L`
	lines, hops, _ := crawlFiles(t, s, func(*engine.Config) {})
	wantLines(t, lines, always+`
		a.test/api/2.json ok LX
		a.test/deep/ ok LLX`)
	if hops != "- 1 1 0 0\nE 5 5 0 0\nL 5 5 0 0\nX 2 2 0 0\n" {
		t.Errorf("the report of hops:\n%s", hops)
	}
	lines, _, _ = crawlFiles(t, s, withoutSpeculative)
	wantLines(t, lines, always)
}

// XML that is data leads to what it names, by hops X. So does a rich text. --speculative off leaves them where they
// are.
func TestSources_dataLeadsOn(t *testing.T) {
	s := hostFiles{
		"a.test/": html("<a href=feeds.opml>o</a><a href=map.kml>k</a><a href=letter.rtf>l</a><a href=radio.pls>r</a>"),
		"a.test/feeds.opml": `text/x-opml` + "\n" + `<opml><outline xmlUrl="http://a.test/f/?a=1&amp;b=2" htmlUrl="/in/"/>` +
			`<outline text="http://no.test/ is text" xmlns="http://no.test/"/></opml>`,
		"a.test/map.kml": "application/vnd.google-earth.kml+xml\n" +
			`<kml xmlns="http://a.test/no/"><Icon><href>pin.png</href></Icon></kml>`,
		"a.test/letter.rtf": "application/rtf\n" + `{\rtf1{\field{\*\fldinst{HYPERLINK "http://a.test/told/"}}}}`,
		"a.test/radio.pls":  "audio/x-scpls\n[playlist]\nFile1=http://a.test/live.mp3\n",
		"a.test/f/?a=1&b=2": html("a feed"), "a.test/in/": html("a page"), "a.test/told/": html("told"),
		"a.test/pin.png": "image/png\npin", "a.test/live.mp3": "audio/mpeg\nsound",
	}
	const always = `a.test/ ok
		a.test/feeds.opml ok L
		a.test/map.kml ok L
		a.test/letter.rtf ok L
		a.test/radio.pls ok L
		a.test/live.mp3 ok LL`
	lines, hops, _ := crawlFiles(t, s, func(*engine.Config) {})
	wantLines(t, lines, always+`
		a.test/f/?a=1&b=2 ok LX
		a.test/in/ ok LX
		a.test/pin.png ok LX
		a.test/told/ ok LX`)
	if hops != "- 1 1 0 0\nL 5 5 0 0\nX 4 4 0 0\n" {
		t.Errorf("the report of hops:\n%s", hops)
	}
	lines, _, _ = crawlFiles(t, s, withoutSpeculative)
	wantLines(t, lines, always)
}

// Documents that forbid to copy open without a password, and lead on. One with a password does not, and says so.
func TestSources_encryptedDocumentsLeadOn(t *testing.T) {
	s := hostFiles{"a.test/": html("<a href=open.pdf>open</a><a href=closed.pdf>closed</a>")}
	for name, file := range map[string]string{"open": "aes-256-objects", "closed": "password"} {
		b, err := os.ReadFile("../../../engine/page/pdflinks/testdata/" + file + ".pdf")
		if err != nil {
			t.Fatal(err)
		}
		s["a.test/"+name+".pdf"] = "application/pdf\n" + string(b)
	}
	lines, hops, r := crawlFiles(t, s, func(*engine.Config) {})
	wantLines(t, lines, `a.test/ ok
		a.test/open.pdf ok L
		a.test/closed.pdf ok L
		a.test/direct client-error LL
		a.test/own client-error LL`)
	if r.PDFsParsed != 2 || r.PDFsEncrypted != 1 || hops != "- 1 1 0 0\nL 4 2 0 2\n" {
		t.Errorf("%d documents, %d with a password; the report of hops:\n%s", r.PDFsParsed, r.PDFsEncrypted, hops)
	}
}
