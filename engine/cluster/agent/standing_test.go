package agent

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/admission"
	"orbweaver/engine/attempt"
	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/journal"
	"orbweaver/engine/queued"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
	"orbweaver/engine/urlx"
	"orbweaver/internal/vfs"
)

// letterOf is a letter of some URLs.
func letterOf(host string, from, n int) (letter []byte) {
	for i := range n {
		it := queued.URL{Depth: 1, Rest: fmt.Appendf(nil, "http://%s/%d", host, from+i)}
		letter = outbox.AppendItem(letter, queued.Append([]byte{letterLink}, &it))
	}
	return letter
}

// A peer may send its quota at once, and more as the work gets on. Beyond that it is told to wait; who does has all its
// letters taken in the end, and who does not is banned.
func TestG05_theQuotaGrowsWithTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := int64(1000) // of a run before
		s := newStandings(100, func() int64 { return done }, slog.New(slog.DiscardHandler))
		ten := letterOf("a.test", 0, 10)
		var wait *cluster.WaitError
		taken := 0
		for ; taken < 1000; taken++ {
			if _, err := s.charge("peer", ten); errors.As(err, &wait) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if taken != 10 || wait == nil || wait.Wait != standingWait {
			t.Fatalf("%d letters of ten URLs were taken with a quota of 100, then %v", taken, wait)
		}
		done += 10
		for ; taken < 1000; taken++ {
			if _, err := s.charge("peer", ten); err != nil {
				break
			}
		}
		if taken != 10+quotaAhead {
			t.Errorf("%d letters were taken when ten URLs were done", taken)
		}
		if back, err := s.charge("other", ten); err != nil {
			t.Errorf("another peer pays for the first: %v", err)
		} else if back(); s.of["other"].items != 0 {
			t.Errorf("%d items are charged of a letter that was not taken", s.of["other"].items)
		}
		// The letters that were under way, four a wait, for an hour.
		for range 720 {
			for range 4 {
				if _, err := s.charge("peer", ten); !errors.As(err, &wait) {
					t.Fatalf("who waits when it is told to: %v", err)
				}
			}
			time.Sleep(wait.Wait)
		}
		s.forgive()
		if _, err := s.charge("peer", ten); err != nil {
			t.Errorf("with nothing to do: %v", err)
		}
	})
}

// Who does not wait when it is told to is banned, and so is who sends what cannot be read, again and again. Bans end,
// and the next is longer.
func TestG05_bansEndAndGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStandings(1, func() int64 { return 0 }, slog.New(slog.DiscardHandler))
		ten := letterOf("a.test", 0, 10)
		early := 0
		for err := error(nil); !errors.Is(err, cluster.ErrBanned); early++ {
			if _, err = s.charge("flood", ten); early > 10*earlyMost {
				t.Fatal("who does not wait is never banned")
			}
		}
		if early < earlyMost {
			t.Errorf("a ban after %d letters", early)
		}
		var a cluster.AgentReport
		for i, length := range []time.Duration{banFirst, 2 * banFirst, 4 * banFirst} {
			if err := s.hear("flood"); !errors.Is(err, cluster.ErrBanned) {
				t.Fatalf("ban %d: %v", i, err)
			}
			time.Sleep(length - time.Second)
			a = cluster.AgentReport{ID: "flood"}
			if s.report(&a); s.hear("flood") == nil || a.Banned == "" || a.BannedFor == "" || a.Refused == 0 ||
				a.Received != 10 {
				t.Errorf("ban %d, just before its end: %+v", i, a)
			}
			time.Sleep(time.Second)
			if err := s.hear("flood"); err != nil {
				t.Errorf("ban %d, after its end: %v", i, err)
			}
			for k := range garbledMost {
				err := s.garbled("flood", cluster.ErrMalformed)
				if want := k == garbledMost-1; errors.Is(err, cluster.ErrBanned) != want {
					t.Errorf("letter %d that cannot be read: %v", k, err)
				}
			}
		}
		if err := s.hear("other"); err != nil {
			t.Errorf("another peer: %v", err)
		}
		for range 10 * garbledMost { // now and then a letter that cannot be read is no reason
			if err := s.garbled("other", cluster.ErrMalformed); errors.Is(err, cluster.ErrBanned) {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if _, err := s.charge("other", nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzLetterTexts finds out whether a link that a peer writes gets past readLetter with text that is none.
func FuzzLetterTexts(f *testing.F) {
	f.Add(letterOf("a.test", 0, 3))
	via := queued.URL{Depth: 2, Via: []byte("http://b.test/"), HopPath: []byte("LR"), Rest: []byte("http://a.test/x?y")}
	f.Add(outbox.AppendItem(nil, queued.Append([]byte{letterLink}, &via)))
	via.Via = []byte("http://b.test/\r\nforged: yes")
	f.Add(outbox.AppendItem(nil, queued.Append([]byte{letterLink}, &via)))
	robots := queued.URL{RobotsOf: []byte("http://b.test"), Rest: []byte("http://a.test/robots.txt")}
	f.Add(outbox.AppendItem(nil, queued.Append([]byte{letterLink}, &robots)))
	f.Add([]byte{200, 1, 'L'})
	p := &agent{sites: &sites.Table{Rules: site.NewRulesPool(0)}}
	f.Fuzz(func(t *testing.T, letter []byte) {
		if err := p.readLetter(letter); err != nil {
			if !errors.Is(err, cluster.ErrMalformed) {
				t.Errorf("an error without a name: %v", err)
			}
			return
		}
		for item, err := range outbox.Items(letter) {
			if err != nil {
				t.Fatal(err)
			}
			if item[0] != letterLink {
				continue
			}
			it, err := readLink(item)
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
		if weigh(letter) < 0 {
			t.Error("a letter of less than nothing")
		}
	})
}

// FuzzQuestion finds out whether anything that a peer can ask does more than to get an answer or to be refused, and to
// be banned in the end.
func FuzzQuestion(f *testing.F) {
	f.Add([]byte{questionFetched})
	f.Add(outbox.AppendItem([]byte{questionFetched}, []byte("http://a.test/")))
	f.Add(outbox.AppendItem(outbox.AppendItem([]byte{questionFetched}, nil), []byte("x")))
	f.Add([]byte{questionFetched, 0xff, 0xff, 0x7f, 'x'})
	f.Add([]byte{})
	known, err := openFetched(vfs.NewMem(1), "fetched", 1<<16, 1<<12, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := known.urls.Close(); err != nil {
			f.Error(err)
		}
	})
	p := &agent{fetched: known, inFlight: attempt.NewInFlight(), frontier: &admission.Frontier{HashSeed: 7},
		network: &company{there: []ownership.Agent{{ID: "peer"}}}, instance: "a1/0000000000000001", journal: &journal.Store{Journal: new(journal.File)}}
	known.add(urlx.Fingerprint(7, []byte("http://a.test/")))
	f.Fuzz(func(t *testing.T, question []byte) {
		if len(question) > 0 && question[0] != questionFetched {
			return // it is answered from a crawl that runs
		}
		p.standings = newStandings(1, func() int64 { return 0 }, slog.New(slog.DiscardHandler))
		answer, err := p.HandleQuestion(t.Context(), "peer", question)
		if err != nil {
			if !errors.Is(err, cluster.ErrMalformed) {
				t.Fatalf("an error without a name: %v", err)
			}
			for range garbledMost {
				_, err = p.HandleQuestion(t.Context(), "peer", question)
			}
			if !errors.Is(err, cluster.ErrBanned) {
				t.Errorf("asked again and again: %v", err)
			}
			return
		}
		var asked int
		for url, err := range outbox.Items(question[1:]) {
			if err != nil || asked >= len(answer) {
				t.Fatalf("%d answers, %v", len(answer), err)
			}
			if want := string(url) == "http://a.test/"; (answer[asked] == 1) != want {
				t.Errorf("%q: %d", url, answer[asked])
			}
			asked++
		}
		if asked != len(answer) || asked > recoveryMost {
			t.Errorf("%d answers to %d questions", len(answer), asked)
		}
	})
}
