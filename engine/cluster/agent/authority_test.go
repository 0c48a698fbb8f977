package agent

import (
	"errors"
	"log/slog"
	"testing"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// A seed of another agent is a URL like any other, also in the journal. A message without one is not copied.
func TestPermit_takesNoFlagOfASeed(t *testing.T) {
	for _, seed := range []bool{true, false} {
		link := message.AppendLink(nil, &queued.URL{Seed: seed, Rest: []byte("http://a.test/")})
		plain := message.AppendLink(nil, &queued.URL{Rest: []byte("http://b.test/")})
		items, err := message.Read(outbox.AppendItem(outbox.AppendItem(nil, link), plain), site.NewRulesPool(0))
		if err != nil {
			t.Fatal(err)
		}
		kept, isChanged, err := new(authority).permit("peer", items)
		if err != nil || len(kept) != 2 || isChanged != seed {
			t.Fatalf("seed %v: %+v, changed %v, %v", seed, kept, isChanged, err)
		}
		if again, err := message.Decode(kept[0].Bytes, nil); err != nil || again.URL.Seed || kept[0].URL.Seed {
			t.Errorf("seed %v: %+v in the journal, %+v, %v", seed, again.URL, kept[0].URL, err)
		}
	}
}

// FuzzQuestion finds out whether anything that a peer can ask does more than to get an answer or to be refused, and to
// be banned in the end.
func FuzzQuestion(f *testing.F) {
	f.Add([]byte{message.QuestionFetched})
	f.Add(outbox.AppendItem([]byte{message.QuestionFetched}, []byte("http://a.test/")))
	f.Add(outbox.AppendItem(outbox.AppendItem([]byte{message.QuestionFetched}, nil), []byte("x")))
	f.Add([]byte{message.QuestionFetched, 0xff, 0xff, 0x7f, 'x'})
	f.Add([]byte{})
	known, err := recovery.OpenFetched(vfs.NewMem(1), "fetched", 1<<16, 1<<12, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := known.Close(); err != nil {
			f.Error(err)
		}
	})
	p := &agent{
		files: files{fetched: known}, views: ownership.NewTimeline(hostGrace),
		network: peers{&fewAgents{there: []ownership.Agent{{ID: "peer"}}}}, self: ownership.Agent{ID: "a1", Store: 1},
		parts: Parts{
			Frontier: &admission.Frontier{HashSeed: 7, HostRules: new(settings.HostRules)},
			Journal:  &journal.Store{Journal: new(journal.File)},
			InFlight: attempt.NewInFlight(),
		},
	}
	p.connectMessages()
	p.server.questions.pages = p.newPages()
	known.Add(urlx.Fingerprint(7, []byte("http://a.test/")))
	f.Fuzz(func(t *testing.T, question []byte) {
		if len(question) > 0 && question[0] != message.QuestionFetched {
			return // it is answered from a crawl that runs
		}
		accounts := newAccounts(1, func() int64 { return 0 }, func() {}, slog.New(slog.DiscardHandler))
		p.server.accounts, p.server.authority.accounts = accounts, accounts
		answer, err := p.server.HandleQuestion(t.Context(), "peer", question)
		if err != nil {
			if !errors.Is(err, peering.ErrMalformed) {
				t.Fatalf("an error without a name: %v", err)
			}
			for range 3 {
				_, err = p.server.HandleQuestion(t.Context(), "peer", question)
			}
			if !errors.Is(err, peering.ErrBanned) {
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
		if asked != len(answer) || asked > recovery.QuestionMax {
			t.Errorf("%d answers to %d questions", len(answer), asked)
		}
	})
}
