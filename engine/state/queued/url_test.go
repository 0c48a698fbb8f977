package queued

import (
	"reflect"
	"testing"

	"orbweaver/engine/page/parse"
	"orbweaver/internal/golden"
)

// firstItems are those of the golden file of the first format.
func firstItems() []URL {
	return []URL{
		{Seed: true, Rest: []byte("http://a.test/")},
		{
			Sitemap: true, ListedByIndex: true, Delayed: true, Tries: 3, Redirects: 2, Depth: 70000,
			Rest: []byte("/path?query"),
		},
		{RobotsOf: []byte("https://b.test:8443"), Redirects: 5, Depth: 1, Rest: []byte("/robots.txt")},
		{HopPath: []byte("LRE"), Via: []byte("http://a.test/from"), Depth: 3, Rest: []byte("/to")},
	}
}

// secondItems are those of the golden file of the second format, which has no bounds of page requisites.
func secondItems() []URL {
	return append(firstItems(),
		URL{Embeds: 1, Depth: 2, Rest: []byte("/a.css")}, URL{Embeds: EmbedsMax, Redirects: 3, Rest: []byte("/b.png")},
		URL{Speculative: true, Depth: 3, Rest: []byte("/c")},
		URL{Embeds: 2, HopPath: []byte("LEE"), Via: []byte("http://a.test/a.css"), Depth: 1, Rest: []byte("/d.woff2")})
}

// The encoded URLs must equal the golden file, and must decode to the original values.
func TestGolden_items(t *testing.T) {
	items := append(secondItems(),
		URL{Embeds: 1, Excess: true, Rest: []byte("http://a.test/e.png")},
		URL{Embeds: EmbedsBeyond, Depth: 2, Rest: []byte("http://a.test/f.css")})
	var b []byte
	for i := range items {
		b = AppendBytes(b, Append(nil, &items[i]))
	}
	rest := golden.Compare(t, "items-3", "2e5a5c9fdfae2e16bd9a4bc18e2fede1cca279e97be31d1a5574adbbecaec793", b)
	for _, want := range items {
		var one []byte
		one, rest, _ = CutBytes(rest)
		if got, ok := Decode(one); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v came back as %+v, %v", want, got, ok)
		}
	}
}

// The items of the second format are read.
func TestGolden_itemsOfTheSecondFormat(t *testing.T) {
	rest := golden.Read(t, "items-2", "6cdd52c73c56fdafa7299df533d22bb9d5bfa11a8da7ab2b8f5b0f75a3e364b6")
	for _, want := range secondItems() {
		var one []byte
		one, rest, _ = CutBytes(rest)
		if got, ok := Decode(one); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v came back as %+v, %v", want, got, ok)
		}
	}
}

// The items of the first format, which has no embed hops and no speculative links, are read.
func TestGolden_itemsOfTheFirstFormat(t *testing.T) {
	rest := golden.Read(t, "items-1", "f6b9ee81b84896f7470461df2a4d420b12e3ae6f73d090ddfe5203e6e5f373dd")
	for _, want := range firstItems() {
		var one []byte
		one, rest, _ = CutBytes(rest)
		if got, ok := Decode(one); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v came back as %+v, %v", want, got, ok)
		}
	}
}

// A depth above DepthMax is encoded as DepthMax.
func TestURL_aDepthBeyondTheFormIsReadAsTheLargest(t *testing.T) {
	for depth, want := range map[int]int{DepthMax: DepthMax, DepthMax + 1: DepthMax, 1 << 40: DepthMax} {
		if it, ok := Decode(Append(nil, &URL{Depth: depth, Rest: []byte("/")})); !ok || it.Depth != want {
			t.Errorf("depth %d comes back as %d, %v", depth, it.Depth, ok)
		}
	}
}

func TestLongHopPathLosesItsOldestHops(t *testing.T) {
	path := []byte("R")
	for range HopPathMax - 1 {
		path = AppendHop(path, parse.Anchor)
	}
	if len(path) != HopPathMax || path[0] != 'R' {
		t.Fatalf("%d letters, %c first", len(path), path[0])
	}
	if path = AppendHop(path, parse.Redirect); len(path) != HopPathMax || path[0] != 'L' ||
		path[HopPathMax-1] != 'R' {
		t.Errorf("%d letters, %c first, %c last", len(path), path[0], path[HopPathMax-1])
	}
}

func TestItemsKeepViaAndHopPath(t *testing.T) {
	for _, it := range []URL{
		{Seed: true, Rest: []byte("http://a.test/")},
		{Depth: 300, Via: []byte("http://v.test/"), HopPath: []byte("LL"), Rest: []byte("/a")},
		{Depth: 1, Via: []byte{}, HopPath: []byte{}, Rest: []byte("/a")},
		{
			Redirects: 2, RobotsOf: []byte("http://o.test"), Via: []byte("http://v.test/"), HopPath: []byte("P"),
			Rest: []byte("/robots.txt"),
		},
	} {
		b := Append(nil, &it)
		got, ok := Decode(b)
		if !ok || string(got.Via) != string(it.Via) || (got.Via == nil) != (it.Via == nil) ||
			string(got.HopPath) != string(it.HopPath) || string(got.Rest) != string(it.Rest) ||
			string(got.RobotsOf) != string(it.RobotsOf) || got.Depth != it.Depth || got.Seed != it.Seed {
			t.Errorf("%+v became %+v (%v)", it, got, ok)
		}
		for n := range b {
			if short, ok := Decode(b[:n]); ok && len(short.Via) > len(it.Via) {
				t.Errorf("%d bytes of %x gave %+v", n, b, short)
			}
		}
	}
}

// A mined URL has two bits that no other has together.
func TestAppend_minedURL(t *testing.T) {
	it := URL{Mined: true, Delayed: true, Depth: 2, Rest: []byte("/x")}
	b := Append(nil, &it)
	if string(b) != "\xa8\x00\x02/x" {
		t.Errorf("%q", b)
	}
	if got := MustDecode(b); !reflect.DeepEqual(got, it) {
		t.Errorf("%+v", got)
	}
	if path := string(HopsOf(&it).AppendTo(nil, 50)); path != "LI" {
		t.Error(path)
	}
}

// A score is kept beside any depth, and costs nothing if it is 0.
func TestURL_score(t *testing.T) {
	for _, depth := range []int{0, 1, 1000, DepthMax} {
		for score := range ScoreMax + 1 {
			it := URL{Depth: depth, Score: score, Rest: []byte("/x")}
			b := Append(nil, &it)
			if got, ok := Decode(b); !ok || got.Depth != depth || got.Score != score || string(got.Rest) != "/x" {
				t.Errorf("depth %d, score %d: %+v, %v", depth, score, got, ok)
			}
			if score > 0 && depth <= 1000 && len(b) != 2+3+2 {
				t.Errorf("%d bytes", len(b))
			}
		}
	}
	if _, ok := Decode([]byte{0, 0, 0x90, 0x80, 0x80, 0x08, '/'}); ok {
		t.Error("a depth beyond all is read")
	}
}
