package agent

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"orbweaver/engine/admission"
	"orbweaver/engine/attempt"
	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/quota"
	"orbweaver/engine/cluster/recovery"
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
	known, err := recovery.OpenFetched(vfs.NewMem(1), "fetched", 1<<16, 1<<12, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := known.Close(); err != nil {
			f.Error(err)
		}
	})
	p := &agent{fetched: known, inFlight: attempt.NewInFlight(), frontier: &admission.Frontier{HashSeed: 7},
		network: &company{there: []ownership.Agent{{ID: "peer"}}}, instance: "a1/0000000000000001", journal: &journal.Store{Journal: new(journal.File)}}
	known.Add(urlx.Fingerprint(7, []byte("http://a.test/")))
	f.Fuzz(func(t *testing.T, question []byte) {
		if len(question) > 0 && question[0] != questionFetched {
			return // it is answered from a crawl that runs
		}
		p.accounts = quota.NewAccounts(1, func() int64 { return 0 }, func() {}, slog.New(slog.DiscardHandler))
		answer, err := p.HandleQuestion(t.Context(), "peer", question)
		if err != nil {
			if !errors.Is(err, cluster.ErrMalformed) {
				t.Fatalf("an error without a name: %v", err)
			}
			for range 3 {
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
