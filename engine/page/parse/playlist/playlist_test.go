package playlist

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/cputime"
	"orbweaver/internal/invariants"
)

func ofM3U(b string) string {
	var out []string
	dropped := M3U([]byte(b), func(ref []byte, isHLS bool) { out = append(out, fmt.Sprintf("%s %v", ref, isHLS)) })
	if dropped > 0 {
		out = append(out, fmt.Sprintf("%d dropped", dropped))
	}
	return strings.Join(out, "|")
}

func ofDASH(b string) string {
	var out []string
	dropped, ok := DASH([]byte(b), func(ref []byte) { out = append(out, string(ref)) })
	if dropped > 0 || !ok {
		out = append(out, fmt.Sprintf("%d dropped, %v", dropped, ok))
	}
	return strings.Join(out, " ")
}

// A list of HLS names playlists, segments, keys and tracks. A plain list offers a choice.
func TestM3U(t *testing.T) {
	for list, want := range map[string]string{
		"#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,NAME=\"a,URI=no\",URI=\"a/de.m3u8\"\r\n" +
			"#EXT-X-STREAM-INF:BANDWIDTH=1\r\nv.m3u8\r\n": "" +
			"a/de.m3u8 true|v.m3u8 true",
		"#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXT-X-MAP:URI=\"i.mp4\",BYTERANGE=\"9@0\"\n" +
			"#EXTINF:4,\n1.ts\n#EXT-X-BYTERANGE:1\n1.ts": "" +
			"k true|i.mp4 true|1.ts true",
		"#EXTM3U\n#EXTINF:-1,radio\nhttp://a/live\n\n# x\n /b.mp3 ":                   "http://a/live false|/b.mp3 false",
		"#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"\n{$a}/c.ts\n#EXT-X-KEY\n#EXT-X-KEY:URI": "",
		"[Playlist]\nFile1=http://a/live\nTitle1=x/y\nfile2 = b.mp3\nVersion=2\n":     "http://a/live false|b.mp3 false",
		"": "",
	} {
		if got := ofM3U(list); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
	if got := ofM3U("#EXT-X-X\n" + strings.Repeat("a\nb\n", filesMost)); !strings.HasSuffix(got, "|5000 dropped") {
		t.Errorf("of 10000 segments: %.30q ... %s", got, got[max(len(got)-30, 0):])
	}
}

// The files of a representation are those of its template, of its list, or one file. Each is below the bases around it.
func TestDASH(t *testing.T) {
	in := func(set string) string {
		return `<MPD mediaPresentationDuration="PT1M5.5S"><BaseURL>http://h.test/v/</BaseURL><Period><AdaptationSet>` + set +
			`</AdaptationSet></Period></MPD>`
	}
	for body, want := range map[string]string{
		in(`<BaseURL>a/</BaseURL><Representation><BaseURL>one.mp4</BaseURL></Representation>`): "http://h.test/v/a/one.mp4",
		in(`<SegmentTemplate timescale="10" duration="300" startNumber="0" initialization="$RepresentationID$-i" ` +
			`media="$RepresentationID$-$Bandwidth$-$Number%03d$$$"/><Representation id="r" bandwidth="7"/>`): "" +
			"http://h.test/v/r-i http://h.test/v/r-7-000$ http://h.test/v/r-7-001$ http://h.test/v/r-7-002$",
		in(`<SegmentTemplate media="$Time$.m4s"><SegmentTimeline><S t="5" d="2" r="1"/><S d="3"/></SegmentTimeline>` +
			`</SegmentTemplate><Representation><SegmentTemplate initialization="i"/></Representation>`): "http://h.test/v/i " +
			"http://h.test/v/5.m4s http://h.test/v/7.m4s http://h.test/v/9.m4s",
		in(`<SegmentTemplate media="$Time$"><SegmentTimeline><S d="30" r="-1"/></SegmentTimeline></SegmentTemplate>` +
			`<Representation/>`): "http://h.test/v/0 http://h.test/v/30 http://h.test/v/60",
		in(`<Representation><SegmentList><Initialization sourceURL="i"/><SegmentURL media="/1"/><SegmentURL media="2"/>` +
			`</SegmentList></Representation>`): "http://h.test/v/i http://h.test/1 http://h.test/v/2",
		in(`<SegmentTemplate media="$Nothing$" duration="1"/><Representation/>`): "",
		`<MPD type="dynamic"><Period><AdaptationSet><SegmentTemplate media="$Number$" duration="1" initialization="i"/>` +
			`<Representation/></AdaptationSet></Period></MPD>`: "i",
		`<MPD><BaseURL>x/</BaseURL><Period><AdaptationSet><Representation/></AdaptationSet></Period></MPD>`: "",
		`<mpd/>`: "0 dropped, false", `<MPD`: "0 dropped, false", "": "0 dropped, false",
	} {
		if got := ofDASH(body); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", body, got, want)
		}
	}
}

// A short file may describe segments without end. So there is a bound for all of them together.
func TestDASH_namesABoundedNumberOfSegments(t *testing.T) {
	many := func(s string) string { return strings.Repeat(s, 10_000) }
	for _, set := range []string{
		`<SegmentTemplate media="$Number$" duration="1" timescale="1000000000"/>` + many("<Representation/>"),
		`<SegmentTemplate media="$No$" duration="1" timescale="1000000000"/>` + many("<Representation/>"),
		`<SegmentTemplate media="a"><SegmentTimeline>` + many(`<S d="0" r="-1"/><S d="1" r="999999999999"/>`) +
			`</SegmentTimeline></SegmentTemplate>` + many("<Representation/>"),
		`<SegmentList>` + many("<SegmentURL media='a'/><SegmentURL/>") + `</SegmentList>` + many("<Representation/>"),
		`<SegmentTemplate media="` + strings.Repeat("$RepresentationID$", 100) + `" duration="1"/><Representation id="` +
			strings.Repeat("x", 100_000) + `"/>`,
	} {
		body := `<MPD mediaPresentationDuration="PT100000000S"><Period><AdaptationSet>` + set +
			"</AdaptationSet></Period></MPD>"
		files, before := 0, cputime.Thread()
		_, ok := DASH([]byte(body), func([]byte) { files++ })
		if spent := cputime.Thread() - before; !ok || files > filesMost || spent > 2*time.Second && !invariants.Race {
			t.Errorf("%.80s: %d files, %v, %v", set, files, spent, ok)
		}
	}
}

// FuzzPlaylists: no bytes cause a panic, and the number and length of references have bounds.
func FuzzPlaylists(f *testing.F) {
	f.Add([]byte("#EXTM3U\n#EXT-X-KEY:URI=\"a\",B=c\nd\n"))
	f.Add([]byte(`<MPD mediaPresentationDuration="PT9S"><Period><BaseURL>a/</BaseURL><AdaptationSet>` +
		`<SegmentTemplate media="$Time$$Number%05d$" duration="1"><SegmentTimeline><S t="1" d="2" r="3"/>` +
		`</SegmentTimeline></SegmentTemplate><Representation id="1"><SegmentList><SegmentURL media="b"/>` +
		`</SegmentList></Representation></AdaptationSet></Period></MPD>`))
	f.Fuzz(func(t *testing.T, b []byte) {
		files := 0
		M3U(b, func([]byte, bool) { files++ })
		if files > filesMost {
			t.Fatalf("%d files", files)
		}
		files = 0
		_, _ = DASH(b, func(ref []byte) {
			if files++; len(ref) > refMost {
				t.Fatalf("%d bytes", len(ref))
			}
		})
		if files > filesMost {
			t.Fatalf("%d files", files)
		}
	})
}
