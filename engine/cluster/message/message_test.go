package message_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
)

// A message passes if all its items do. One item that cannot be read, or whose URL is not in normal form, and the whole
// message fails.
func TestRead_findsTheOneBadItem(t *testing.T) {
	rules := site.NewRulesPool(0)
	link := func(url string) []byte { return message.AppendLink(nil, &queued.URL{Rest: []byte(url)}) }
	good := [][]byte{link("http://a.example/"), link("https://www.b.example:8443/c?d=e"),
		link("http://a.example/%C3%A9")}
	batch := func(items ...[]byte) (b []byte) {
		for _, item := range items {
			b = outbox.AppendItem(b, item)
		}
		return b
	}
	if _, err := message.Read(batch(good...), rules); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"dots": link("http://a.example/b/../c"), "no path": link("http://a.example"),
		"capitals":            link("http://A.example/"),
		"a port that is none": link("http://a.example:80/"),
		"a scheme":            link("ftp://a.example/"), "a fragment": link("http://a.example/#b"),
		"nothing": link(""),
		"a path":  link("/b"), "no item": {}, "another kind": []byte("Xabc"),
		"half an item": link("http://a.example/")[:3], "a robots.txt": queued.Append([]byte{message.Link},
			&queued.URL{Rest: []byte("http://a.example/robots.txt"), RobotsOf: []byte("http://a.example")}),
		"a site with a path": message.AppendSite(nil, []byte("http://a.example/b"), 0, nil, time.Unix(1e9, 0)),
		"a depth of no site": message.AppendDepth(nil, []byte("http://a.example/"), 3),
		"no depth":           message.AppendDepth(nil, []byte("http://a.example"), 0),
		"a redirect for no site": message.AppendRobotsRedirect(nil,
			&queued.URL{Rest: []byte("http://a.example/robots.txt"), RobotsOf: []byte("a.example")}),
		"a link as a redirect": message.AppendRobotsRedirect(nil, &queued.URL{Rest: []byte("http://a.example/")}),
		"rules of no site": message.AppendRobotsResult(nil,
			&site.RobotsResult{Site: []byte("http://A.example")}, time.Unix(1e9, 0)),
	} {
		for at := range len(good) + 1 {
			if _, err := message.Read(batch(slices.Insert(slices.Clone(good), at, bad)...), rules); !errors.Is(err,
				peering.ErrMalformed) {
				t.Errorf("%s, item %d: %v", name, at, err)
			}
		}
	}
	if _, err := message.Read(append(batch(good...), 200), rules); !errors.Is(err, peering.ErrMalformed) {
		t.Errorf("a message that ends within an item: %v", err)
	}
}

// siteAndLink is a message with a site and a link, put into the outbox at a time.
func siteAndLink(put time.Time) []byte {
	var s site.State
	s.SetRules(robots.Parse([]byte("User-agent: *\nDisallow: /private\nCrawl-delay: 60\n"), robots.Token),
		put.Add(5*time.Hour))
	s.Failures, s.Slowdown, s.Stored = -3, 8, 17
	item := message.AppendSite(nil, []byte("http://a.test"), time.Minute, message.AppendState(nil, &s, put), put)
	for _, path := range []string{"/1", "/2?x=y"} {
		item = outbox.AppendItem(item, queued.Append(nil, &queued.URL{Depth: 3, Rest: []byte(path)}))
	}
	link := message.AppendLink(nil, &queued.URL{Seed: true, Rest: []byte("https://b.test/")})
	return outbox.AppendItem(outbox.AppendItem(nil, item), link)
}

func splitItems(t testing.TB, batch []byte) (items [][]byte) {
	t.Helper()
	for item, err := range outbox.Items(batch) {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}

// A message says how long ago its items were put into the outbox, not at what time of day. The copy in the outbox
// does not change.
func TestWithAges_replacesTimesOfDay(t *testing.T) {
	now := time.Now()
	batch := siteAndLink(now.Add(-time.Hour))
	before := bytes.Clone(batch)
	sent := message.WithAges(batch, now)
	if !bytes.Equal(batch, before) {
		t.Fatal("the message in the outbox has changed")
	}
	items, err := message.Read(sent, site.NewRulesPool(0))
	if err != nil || items[0].Site == nil {
		t.Fatalf("%+v, %v", items, err)
	}
	m := items[0].Site
	if m.Age != time.Hour || string(m.Key) != "http://a.test" || m.Due != time.Minute || m.Known.Stored != 17 {
		t.Errorf("%+v", m)
	}
	var urls []string
	for _, it := range m.URLs {
		if it.Depth != 3 {
			t.Errorf("%+v", it)
		}
		urls = append(urls, string(it.Rest))
	}
	if !slices.Equal(urls, []string{"http://a.test/1", "http://a.test/2?x=y"}) {
		t.Errorf("%q", urls)
	}
	if links := batch[len(batch)-5:]; !bytes.HasSuffix(sent, links) {
		t.Error("the link has changed")
	}
	back := message.WithAges(siteAndLink(now.Add(time.Hour)), now)
	if binary.LittleEndian.Uint64(splitItems(t, back)[0][2:]) != 0 {
		t.Error("what was put into the outbox before the clock went back is not new")
	}
	link := outbox.AppendItem(nil, splitItems(t, batch)[1])
	if got := message.WithAges(link, now); &got[0] != &link[0] {
		t.Error("a message without sites was copied")
	}
}

// oneOfEachKind is an item of each kind.
func oneOfEachKind(t testing.TB, put time.Time) map[byte][]byte {
	t.Helper()
	const instance = "a1/0000000000000007"
	siteItem, link := splitItems(t, siteAndLink(put))[0], splitItems(t, siteAndLink(put))[1]
	hop := queued.URL{RobotsOf: []byte("http://a.test"), Rest: []byte("http://b.test/robots.txt")}
	result := site.RobotsResult{Site: []byte("http://a.test"), Rules: robots.DenyAll()}
	return map[byte][]byte{
		message.Link:           link,
		message.Site:           siteItem,
		message.Depth:          message.AppendDepth(nil, []byte("http://a.test"), 3),
		message.RobotsRedirect: message.AppendRobotsRedirect(nil, &hop),
		message.RobotsResult:   message.AppendRobotsResult(nil, &result, put),
		message.Fetched: message.AppendFetched(nil, cluster.FetchedList{Seed: 7, Instance: instance},
			make([]dedup.Digest, 2)),
		message.Retained: outbox.AppendItem(outbox.AppendItem(message.AppendRetained(nil, instance), siteItem), link),
	}
}

// A recipe of CONTRIBUTING.md: each kind of item has a form, which is read whole and refused cut short. The forms are
// those of all versions: testdata/golden has them.
func TestRecipe_eachKindHasAForm(t *testing.T) {
	items, rules := oneOfEachKind(t, time.Unix(1e9, 0)), site.NewRulesPool(0)
	if len(items) != len(message.Kinds()) {
		t.Fatalf("%d kinds have an item here, of %d", len(items), len(message.Kinds()))
	}
	var all strings.Builder
	for _, kind := range []byte(message.Kinds()) {
		fmt.Fprintf(&all, "%c %x\n", kind, items[kind])
		if _, err := message.Read(outbox.AppendItem(nil, items[kind]), rules); err != nil {
			t.Errorf("%c: %v", kind, err)
		}
		if _, err := message.Read(outbox.AppendItem(nil, items[kind][:6]), rules); err == nil {
			t.Errorf("%c: cut short, and nothing is wrong", kind)
		}
	}
	if golden, err := os.ReadFile("testdata/golden"); err != nil || string(golden) != all.String() {
		t.Errorf("the items are not those of testdata/golden (%v):\n%s", err, all.String())
	}
}

// What another agent says of a link, of a URL of a site or of a redirect will stand in a record. Nothing can end the
// field there.
func TestRead_refusesTextsThatMayNotStandInARecord(t *testing.T) {
	put := time.Unix(1e9, 0)
	for name, bad := range map[string]queued.URL{
		"a line in the referring page": {Via: []byte("http://b.test/\r\nforged: yes"), Rest: []byte("/")},
		"a line in the hop path":       {Via: []byte("http://b.test/"), HopPath: []byte("L\r\n"), Rest: []byte("/")},
	} {
		inSite := outbox.AppendItem(message.AppendSite(nil, []byte("http://a.test"), 0, nil, put), queued.Append(nil, &bad))
		bad.Rest = []byte("http://a.test/")
		link := message.AppendLink(nil, &bad)
		bad.RobotsOf = []byte("http://b.test")
		for kind, item := range map[string][]byte{
			"link":     link,
			"site":     inSite,
			"redirect": message.AppendRobotsRedirect(nil, &bad),
			"retained": outbox.AppendItem(message.AppendRetained(nil, "a1/0000000000000007"), inSite),
		} {
			_, err := message.Read(outbox.AppendItem(nil, item), site.NewRulesPool(0))
			if !errors.Is(err, peering.ErrMalformed) {
				t.Errorf("%s, %s: %v", kind, name, err)
			}
		}
	}
}

// The flag of a seed is taken off links and off the URLs of a site; what has none does not change.
func TestClearSeeds_takesOnlyTheFlag(t *testing.T) {
	rules := site.NewRulesPool(0)
	items, err := message.Read(siteAndLink(time.Unix(1e9, 0)), rules)
	if err != nil {
		t.Fatal(err)
	}
	if before := items[0].Bytes; items[0].ClearSeeds() || &before[0] != &items[0].Bytes[0] {
		t.Error("a site without seeds has changed")
	}
	items[0].Bytes = outbox.AppendItem(bytes.Clone(items[0].Bytes),
		queued.Append(nil, &queued.URL{Seed: true, Rest: []byte("/3")}))
	if items, err = message.Read(message.Join(nil, items), rules); err != nil {
		t.Fatal(err)
	}
	if n, err := message.CountLinks(items[0].Bytes); n != 3 || err != nil {
		t.Errorf("%d links of 3, %v", n, err)
	}
	before := message.Join(nil, items)
	for i := range items {
		if !items[i].ClearSeeds() || items[i].ClearSeeds() {
			t.Errorf("item %d: the flag is not removed, or twice", i)
		}
	}
	again, err := message.Read(message.Join(nil, items), rules)
	if err != nil {
		t.Fatal(err)
	}
	urls := append(slices.Clone(again[0].Site.URLs), again[1].URL)
	for i, want := range []string{"http://a.test/1", "http://a.test/2?x=y", "http://a.test/3", "https://b.test/"} {
		if string(urls[i].Rest) != want || urls[i].Seed {
			t.Errorf("%+v, want %s", urls[i], want)
		}
	}
	if n := len(again[0].Site.Links()); n != 3 {
		t.Errorf("%d links of 3", n)
	}
	if old, err := message.Read(before, rules); err != nil || !old[1].URL.Seed || !old[0].Site.URLs[2].Seed {
		t.Errorf("the message has changed, %v", err)
	}
}

// Whatever another agent sends, it is an error, or a message that can still be read with its ages.
func FuzzRead(f *testing.F) {
	put := time.Unix(1e9, 0)
	f.Add(siteAndLink(put))
	f.Add(message.WithAges(siteAndLink(put), put.Add(time.Hour)))
	f.Add([]byte{})
	f.Add([]byte("\x02S\x01"))
	f.Add(outbox.AppendItem(nil, message.AppendSite(nil, []byte("http://a.test/"), -1, nil, put)))
	for _, item := range oneOfEachKind(f, put) {
		f.Add(outbox.AppendItem(nil, item))
	}
	rules := site.NewRulesPool(0)
	f.Fuzz(func(t *testing.T, batch []byte) {
		if _, err := message.Read(batch, rules); err != nil {
			return
		}
		now := time.Unix(2e9, 0)
		if _, err := message.Read(message.WithAges(batch, now), rules); err != nil {
			t.Fatalf("with its age it cannot be read: %v", err)
		}
	})
}

// linksOf is a message with some URLs.
func linksOf(host string, from, n int) (batch []byte) {
	for i := range n {
		it := queued.URL{Depth: 1, Rest: fmt.Appendf(nil, "http://%s/%d", host, from+i)}
		batch = outbox.AppendItem(batch, message.AppendLink(nil, &it))
	}
	return batch
}

// FuzzRead_texts looks for a link that passes Read with a control byte in a text.
func FuzzRead_texts(f *testing.F) {
	f.Add(linksOf("a.test", 0, 3))
	via := queued.URL{Depth: 2, Via: []byte("http://b.test/"), HopPath: []byte("LR"), Rest: []byte("http://a.test/x?y")}
	f.Add(outbox.AppendItem(nil, message.AppendLink(nil, &via)))
	via.Via = []byte("http://b.test/\r\nforged: yes")
	f.Add(outbox.AppendItem(nil, message.AppendLink(nil, &via)))
	robots := queued.URL{RobotsOf: []byte("http://b.test"), Rest: []byte("http://a.test/robots.txt")}
	f.Add(outbox.AppendItem(nil, message.AppendLink(nil, &robots)))
	f.Add([]byte{200, 1, 'L'})
	rules := site.NewRulesPool(0)
	f.Fuzz(func(t *testing.T, batch []byte) {
		items, err := message.Read(batch, rules)
		if err != nil && !errors.Is(err, peering.ErrMalformed) {
			t.Errorf("an error without a name: %v", err)
		}
		for _, item := range items {
			if item.Kind() != message.Link {
				continue
			}
			it := item.URL
			for _, text := range [][]byte{it.Rest, it.Via, it.HopPath} {
				for _, c := range text {
					if c < ' ' || c == 0x7f {
						t.Fatalf("a control byte in %q", text)
					}
				}
			}
			again, ok := queued.Decode(queued.Append(nil, &it))
			if !ok || string(again.Rest) != string(it.Rest) || string(again.Via) != string(it.Via) ||
				again.Depth != it.Depth {
				t.Errorf("%+v is written as %+v", it, again)
			}
		}
	})
}
