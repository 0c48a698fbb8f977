package agent

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/queued"
	"orbweaver/engine/robots"
	"orbweaver/engine/seen"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
)

// aLetter is one with a site and a link, as it lies in the outbox since some time ago.
func aLetter(put time.Time) []byte {
	var s site.State
	s.SetRules(
		robots.Parse([]byte("User-agent: *\nDisallow: /private\nCrawl-delay: 60\n"), robots.Token),
		put.Add(5*time.Hour),
	)
	s.Failures, s.Slowdown, s.Stored = -3, 8, 17
	item := appendSiteMove(nil, []byte("http://a.test"), time.Minute, appendKnown(nil, &s, put), put)
	for _, path := range []string{"/1", "/2?x=y"} {
		item = outbox.AppendItem(item, queued.Append(nil, &queued.URL{Depth: 3, Rest: []byte(path)}))
	}
	link := queued.Append([]byte{letterLink}, &queued.URL{Seed: true, Rest: []byte("https://b.test/")})
	return outbox.AppendItem(outbox.AppendItem(nil, item), link)
}

func itemsOf(t testing.TB, letter []byte) (items [][]byte) {
	t.Helper()
	for item, err := range outbox.Items(letter) {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}

// What is on its way says how long ago it was put there, and no time of day; the outbox's copy stays as it is.
func TestASiteOnItsWaySaysHowOldItIs(t *testing.T) {
	now := time.Now()
	letter := aLetter(now.Add(-time.Hour))
	before := bytes.Clone(letter)
	sent := aged(letter, now)
	if !bytes.Equal(letter, before) {
		t.Fatal("the letter in the outbox has changed")
	}
	m, err := readSiteMove(itemsOf(t, sent)[0])
	if err != nil || m.age != time.Hour || string(m.key) != "http://a.test" || m.due != time.Minute {
		t.Fatalf("%+v, %v", m, err)
	}
	var urls []string
	for it, err := range m.urls() {
		if err != nil || it.Depth != 3 {
			t.Errorf("%+v, %v", it, err)
		}
		urls = append(urls, string(it.Rest))
	}
	if !slices.Equal(urls, []string{"http://a.test/1", "http://a.test/2?x=y"}) {
		t.Errorf("%q", urls)
	}
	if links := letter[len(letter)-5:]; !bytes.HasSuffix(sent, links) {
		t.Error("the link has changed")
	}
	if back := aged(aLetter(now.Add(time.Hour)), now); binary.LittleEndian.Uint64(itemsOf(t, back)[0][2:]) != 0 {
		t.Error("what was put into the outbox before the clock went back is not new")
	}
	link := outbox.AppendItem(nil, itemsOf(t, letter)[1])
	if got := aged(link, now); &got[0] != &link[0] {
		t.Error("a letter without sites was copied")
	}
}

// Of what two agents know the stricter holds, whichever comes first and however often.
func TestOfASiteTheStricterHolds(t *testing.T) {
	now := time.Now()
	rules := robots.Parse([]byte("User-agent: *\nDisallow: /\n"), robots.Token)
	other := robots.AllowAll()
	known := site.State{Rules: rules, Failures: -4, Slowdown: 3, Stored: 9, RobotsTries: 1}
	for what, c := range map[string]struct {
		own  site.State
		left time.Duration // of its own rules
		life time.Duration // of those that come
		want site.State
	}{
		"of a new site all": {site.State{}, 0, time.Hour,
			site.State{Rules: rules, Failures: -4, Slowdown: 3, Stored: 9, RobotsTries: 1}},
		"rules that are over are none": {site.State{RobotsTries: 5}, 0, -time.Second,
			site.State{Failures: -4, Slowdown: 3, Stored: 9, RobotsTries: 5}},
		"younger rules stay": {site.State{Rules: other}, 2 * time.Hour, time.Hour,
			site.State{Rules: other, Failures: -4, Slowdown: 3, Stored: 9}},
		"older rules go": {site.State{Rules: other}, time.Hour, 2 * time.Hour,
			site.State{Rules: rules, Failures: -4, Slowdown: 3, Stored: 9, RobotsTries: 1}},
		"more trouble and quotas stay": {site.State{Failures: 5, Slowdown: 12, Stored: 30}, 0, time.Hour,
			site.State{Rules: rules, Failures: 5, Slowdown: 12, Stored: 30, RobotsTries: 1}},
		"no copy is older than a day": {site.State{}, 0, math.MaxInt64,
			site.State{Rules: rules, Failures: -4, Slowdown: 3, Stored: 9, RobotsTries: 1}},
		"what is blocked here stays so": {site.State{Blocked: true}, 0, time.Hour,
			site.State{Blocked: true, Rules: rules, Failures: -4, Slowdown: 3, Stored: 9, RobotsTries: 1}},
		"what was denied is allowed now": {site.State{DenyAll: true}, 0, time.Hour,
			site.State{Rules: rules, Failures: -4, Slowdown: 3, Stored: 9, RobotsTries: 1}},
	} {
		s := c.own
		if s.Rules != nil {
			s.SetRules(s.Rules, now.Add(c.left))
		}
		for range 2 {
			s.Merge(&known, c.life, now)
		}
		if s.Rules != nil && int64(s.RulesUntil) > now.Add(site.RobotsLifetime).Unix() {
			t.Errorf("%s: rules for longer than a day", what)
		}
		s.RulesUntil = 0
		if s != c.want {
			t.Errorf("%s: %+v, want %+v", what, s, c.want)
		}
	}
}

// Whatever another agent sends, reading it is an error or gives items that can be taken.
func FuzzLetter(f *testing.F) {
	put := time.Unix(1e9, 0)
	f.Add(aLetter(put))
	f.Add(aged(aLetter(put), put.Add(time.Hour)))
	f.Add([]byte{})
	f.Add([]byte("\x02S\x01"))
	f.Add(outbox.AppendItem(nil, appendSiteMove(nil, []byte("http://a.test/"), -1, nil, put)))
	f.Add(
		outbox.AppendItem(
			nil,
			queued.Append(
				[]byte{letterHop},
				&queued.URL{RobotsOf: []byte("http://a.test"), Rest: []byte("http://b.test/robots.txt")},
			),
		),
	)
	f.Add(
		outbox.AppendItem(
			nil,
			appendVerdict(nil, &site.RobotsResult{Site: []byte("http://a.test"), Rules: robots.DenyAll()}, put),
		),
	)
	f.Add(
		outbox.AppendItem(
			nil,
			appendVerdict(nil, &site.RobotsResult{Site: []byte("http://a.test"), Unreachable: true}, put),
		),
	)
	f.Add(outbox.AppendItem(nil, appendInherited(nil, cluster.FetchedList{Seed: 7, Instance: "a1/0000000000000007"},
		make([]seen.Digest, 2))))
	told := queued.AppendBytes([]byte{letterTold, inheritVersion}, []byte("a1/0000000000000007"))
	for _, item := range itemsOf(f, aLetter(put)) {
		told = outbox.AppendItem(told, item)
	}
	f.Add(outbox.AppendItem(nil, told))
	p := &agent{sites: &sites.Table{Rules: site.NewRulesPool(0)}}
	f.Fuzz(func(t *testing.T, letter []byte) {
		if p.readLetter(letter) != nil {
			return
		}
		now := time.Unix(2e9, 0)
		if err := p.readLetter(aged(letter, now)); err != nil {
			t.Fatalf("with its age it cannot be read: %v", err)
		}
	})
}
