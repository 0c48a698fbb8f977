package message_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
)

// A message passes if all its items do. One item that cannot be read, or whose URL is not in normal form, and the whole
// message fails.
func TestCheck_findsTheOneBadItem(t *testing.T) {
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
	if err := message.Check(batch(good...), rules); err != nil {
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
			&queued.URL{Rest: []byte("/robots.txt"), RobotsOf: []byte("http://a.example")}),
	} {
		for at := range len(good) + 1 {
			if err := message.Check(batch(slices.Insert(slices.Clone(good), at, bad)...), rules); !errors.Is(err,
				cluster.ErrMalformed) {
				t.Errorf("%s, item %d: %v", name, at, err)
			}
		}
	}
	if err := message.Check(append(batch(good...), 200), rules); !errors.Is(err, cluster.ErrMalformed) {
		t.Errorf("a message that ends within an item: %v", err)
	}
}

// siteAndLink is a message with a site and a link, put into the outbox at a time.
func siteAndLink(put time.Time) []byte {
	var s site.State
	s.SetRules(
		robots.Parse([]byte("User-agent: *\nDisallow: /private\nCrawl-delay: 60\n"), robots.Token),
		put.Add(5*time.Hour),
	)
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
	m, err := message.ReadSite(splitItems(t, sent)[0])
	if err != nil || m.Age != time.Hour || string(m.Key) != "http://a.test" || m.Due != time.Minute {
		t.Fatalf("%+v, %v", m, err)
	}
	var urls []string
	for it, err := range m.URLs() {
		if err != nil || it.Depth != 3 {
			t.Errorf("%+v, %v", it, err)
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
		message.RobotsRedirect: message.AppendRobotsRedirect(nil, &hop),
		message.RobotsResult:   message.AppendRobotsResult(nil, &result, put),
		message.Fetched: message.AppendFetched(nil, cluster.FetchedList{Seed: 7, Instance: instance},
			make([]dedup.Digest, 2)),
		message.Retained: outbox.AppendItem(outbox.AppendItem(message.AppendRetained(nil, instance), siteItem), link),
	}
}

// A recipe of CONTRIBUTING.md: each kind of item has a check, which passes an item of that kind and refuses it cut
// short.
func TestRecipe_eachKindHasACheck(t *testing.T) {
	items, rules := oneOfEachKind(t, time.Unix(1e9, 0)), site.NewRulesPool(0)
	if len(items) != len(message.Kinds()) {
		t.Fatalf("%d kinds have an item here, of %d", len(items), len(message.Kinds()))
	}
	for _, kind := range []byte(message.Kinds()) {
		if _, err := message.CheckItem(nil, items[kind], rules); err != nil {
			t.Errorf("%c: %v", kind, err)
		}
		if _, err := message.CheckItem(nil, items[kind][:6], rules); err == nil {
			t.Errorf("%c: cut short, and nothing is wrong", kind)
		}
	}
}

// The flag of a seed is taken off links and off the URLs of a site; what has none is not copied.
func TestWithoutSeed_takesOnlyTheFlag(t *testing.T) {
	for _, item := range splitItems(t, siteAndLink(time.Unix(1e9, 0))) {
		clean := item
		if message.KindOf(item) == message.Link {
			clean = message.WithoutSeed(item)
			if it, err := message.ReadLink(clean); err != nil || it.Seed || string(it.Rest) != "https://b.test/" {
				t.Errorf("%+v, %v", it, err)
			}
			if again := message.WithoutSeed(clean); &again[0] != &clean[0] {
				t.Error("a link that is no seed was copied")
			}
			continue
		}
		item = outbox.AppendItem(bytes.Clone(item), queued.Append(nil, &queued.URL{Seed: true, Rest: []byte("/3")}))
		m, err := message.ReadSite(item)
		if err != nil {
			t.Fatal(err)
		}
		clean = m.WithoutSeeds(item)
		if m, err = message.ReadSite(clean); err != nil {
			t.Fatal(err)
		}
		var urls int
		for it, err := range m.URLs() {
			if urls++; err != nil || it.Seed {
				t.Errorf("%+v, %v", it, err)
			}
		}
		if links, err := message.CountLinks(item); urls != 3 || links != 3 || err != nil {
			t.Errorf("%d URLs are left of %d, %v", urls, links, err)
		}
		if again := m.WithoutSeeds(clean); &again[0] != &clean[0] {
			t.Error("a site without seeds was copied")
		}
		if n := len(splitItems(t, message.AppendLinks(nil, item))); n != 3 {
			t.Errorf("%d links of 3", n)
		}
	}
}

// Whatever another agent sends, it is an error, or a message that can still be read with its ages.
func FuzzCheck(f *testing.F) {
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
		if message.Check(batch, rules) != nil {
			return
		}
		now := time.Unix(2e9, 0)
		if err := message.Check(message.WithAges(batch, now), rules); err != nil {
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

// FuzzCheck_texts looks for a link that passes Check with a control byte in a text.
func FuzzCheck_texts(f *testing.F) {
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
		if err := message.Check(batch, rules); err != nil {
			if !errors.Is(err, cluster.ErrMalformed) {
				t.Errorf("an error without a name: %v", err)
			}
			return
		}
		for item, err := range outbox.Items(batch) {
			if err != nil {
				t.Fatal(err)
			}
			if item[0] != message.Link {
				continue
			}
			it, err := message.ReadLink(item)
			if err != nil {
				t.Fatal(err)
			}
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
