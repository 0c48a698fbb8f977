package engine

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"orbweaver/engine/outbox"
	"orbweaver/engine/robots"
	"orbweaver/engine/seen"
)

// aLetter is one with a site and a link, as it lies in the outbox since some time ago.
func aLetter(put time.Time) []byte {
	var s Site
	s.setRules(robots.Parse([]byte("User-agent: *\nDisallow: /private\nCrawl-delay: 60\n"), robotsToken), put.Add(5*time.Hour))
	s.Failures, s.Strain, s.Stored = -3, 8, 17
	item := appendSiteMove(nil, []byte("http://a.test"), time.Minute, appendKnown(nil, &s, put), put)
	for _, path := range []string{"/1", "/2?x=y"} {
		item = outbox.AppendItem(item, appendItem(nil, &Item{Depth: 3, Rest: []byte(path)}))
	}
	link := appendItem([]byte{letterLink}, &Item{Seed: true, Rest: []byte("https://b.test/")})
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
	rules := robots.Parse([]byte("User-agent: *\nDisallow: /\n"), robotsToken)
	other := robots.AllowAll()
	known := Site{Rules: rules, Failures: -4, Strain: 3, Stored: 9, RobotsTry: 1}
	for what, c := range map[string]struct {
		own  Site
		left time.Duration // of its own rules
		life time.Duration // of those that come
		want Site
	}{
		"of a new site all":              {Site{}, 0, time.Hour, Site{Rules: rules, Failures: -4, Strain: 3, Stored: 9, RobotsTry: 1}},
		"rules that are over are none":   {Site{RobotsTry: 5}, 0, -time.Second, Site{Failures: -4, Strain: 3, Stored: 9, RobotsTry: 5}},
		"younger rules stay":             {Site{Rules: other}, 2 * time.Hour, time.Hour, Site{Rules: other, Failures: -4, Strain: 3, Stored: 9}},
		"older rules go":                 {Site{Rules: other}, time.Hour, 2 * time.Hour, Site{Rules: rules, Failures: -4, Strain: 3, Stored: 9, RobotsTry: 1}},
		"more trouble and quotas stay":   {Site{Failures: 5, Strain: 12, Stored: 30}, 0, time.Hour, Site{Rules: rules, Failures: 5, Strain: 12, Stored: 30, RobotsTry: 1}},
		"no copy is older than a day":    {Site{}, 0, math.MaxInt64, Site{Rules: rules, Failures: -4, Strain: 3, Stored: 9, RobotsTry: 1}},
		"what is blocked here stays so":  {Site{Blocked: true}, 0, time.Hour, Site{Blocked: true, Rules: rules, Failures: -4, Strain: 3, Stored: 9, RobotsTry: 1}},
		"what was denied is allowed now": {Site{Denied: true}, 0, time.Hour, Site{Rules: rules, Failures: -4, Strain: 3, Stored: 9, RobotsTry: 1}},
	} {
		s := c.own
		if s.Rules != nil {
			s.setRules(s.Rules, now.Add(c.left))
		}
		for range 2 {
			s.takeOver(&known, c.life, now)
		}
		if s.Rules != nil && int64(s.rulesUntil) > now.Add(robotsLife).Unix() {
			t.Errorf("%s: rules for longer than a day", what)
		}
		s.rulesUntil = 0
		if s != c.want {
			t.Errorf("%s: %+v, want %+v", what, s, c.want)
		}
	}
}

// An agent that knows links alone gets all URLs, each in its own place.
func TestLettersForAnAgentOfTheFormerVersion(t *testing.T) {
	letter := aLetter(time.Now())
	if isPlain(letter) {
		t.Fatal("a letter with a site is none of links alone")
	}
	var urls []string
	parts, _ := plainLetters(letter)
	for _, part := range parts {
		if !isPlain(part) {
			t.Error("a part is not plain")
		}
		for _, item := range itemsOf(t, part) {
			it, err := readLink(item)
			if err != nil {
				t.Fatal(err)
			}
			urls = append(urls, string(it.Rest))
		}
	}
	if !slices.Equal(urls, []string{"http://a.test/1", "http://a.test/2?x=y", "https://b.test/"}) {
		t.Errorf("%q", urls)
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
	f.Add(outbox.AppendItem(nil, appendItem([]byte{letterHop}, &Item{RobotsOf: []byte("http://a.test"), Rest: []byte("http://b.test/robots.txt")})))
	f.Add(outbox.AppendItem(nil, appendVerdict(nil, &robotsVerdict{site: []byte("http://a.test"), rules: robots.DenyAll()}, put)))
	f.Add(outbox.AppendItem(nil, appendVerdict(nil, &robotsVerdict{site: []byte("http://a.test"), unreachable: true}, put)))
	f.Add(outbox.AppendItem(nil, appendInherited(nil, inheritance{7, "a1/0000000000000007"}, make([]seen.Digest, 2))))
	told := appendBytes([]byte{letterTold, inheritVersion}, []byte("a1/0000000000000007"))
	for _, item := range itemsOf(f, aLetter(put)) {
		told = outbox.AppendItem(told, item)
	}
	f.Add(outbox.AppendItem(nil, told))
	p := &peers{hosts: &hosts{rules: newRulesPool(0)}}
	f.Fuzz(func(t *testing.T, letter []byte) {
		if p.readLetter(letter) != nil {
			return
		}
		now := time.Unix(2e9, 0)
		if err := p.readLetter(aged(letter, now)); err != nil {
			t.Fatalf("with its age it cannot be read: %v", err)
		}
		parts, _ := plainLetters(letter)
		for _, part := range parts {
			if err := p.readLetter(part); err != nil || !isPlain(part) {
				t.Fatalf("in plain words it cannot be read: %v", err)
			}
		}
	})
}
