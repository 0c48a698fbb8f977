package identity

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func sameKeys(a, b []GossipKey) bool {
	return slices.EqualFunc(a, b, func(a, b GossipKey) bool { return a.Number == b.Number && bytes.Equal(a.Key, b.Key) })
}

// reread writes the files of an authority and reads them.
func reread(t *testing.T, a *Authority) *Authority {
	t.Helper()
	certificate, secret, err := a.Files()
	if err != nil {
		t.Fatal(err)
	}
	b, err := ParseAuthority(certificate, secret)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The gossip key is changed in three steps. Between two steps all files can be read, and one key is accepted by the
// agents of both steps.
func TestHostilePeer_P5_theGossipKeyIsChangedInThreeSteps(t *testing.T) {
	a := makeAuthority(t)
	id, err := a.Issue("agent-1", noon(), year, 0)
	if err != nil {
		t.Fatal(err)
	}
	old := a.GossipKeys[0].Key
	steps := []struct {
		do   func(*Authority) error
		want []uint64 // numbers of the keys, the one that is encrypted with first
	}{
		{(*Authority).AddGossipKey, []uint64{1, 2}},
		{(*Authority).UseGossipKey, []uint64{2, 1}},
		{(*Authority).UseGossipKey, []uint64{2, 1}},
		{(*Authority).RemoveGossipKey, []uint64{2}},
		{(*Authority).RemoveGossipKey, []uint64{2}},
		{(*Authority).AddGossipKey, []uint64{2, 3}},
	}
	for i, step := range steps {
		before := a.GossipKeys
		if err := step.do(a); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		a = reread(t, a)
		file, err := id.WithGossipKeys(a).File()
		if err != nil {
			t.Fatal(err)
		}
		read, err := Parse(file, noon())
		if err != nil || !sameKeys(read.GossipKeys, a.GossipKeys) ||
			Generation(read.Certificate.Leaf) != Generation(id.Certificate.Leaf) {
			t.Fatalf("step %d: the file of an agent is read as %+v: %v", i, read, err)
		}
		var numbers []uint64
		for _, key := range a.GossipKeys {
			numbers = append(numbers, key.Number)
		}
		if !slices.Equal(numbers, step.want) {
			t.Errorf("step %d: keys %v, want %v", i, numbers, step.want)
		}
		has := func(keys []GossipKey, key GossipKey) bool {
			return slices.ContainsFunc(keys, func(k GossipKey) bool { return bytes.Equal(k.Key, key.Key) })
		}
		if !has(a.GossipKeys, before[0]) || !has(before, a.GossipKeys[0]) {
			t.Errorf("step %d: agents of the two steps do not understand each other", i)
		}
	}
	if slices.ContainsFunc(a.GossipKeys, func(k GossipKey) bool { return bytes.Equal(k.Key, old) }) {
		t.Error("the first key is still accepted")
	}
}

// A step out of turn is refused: an agent would be without a key that the others have.
func TestHostilePeer_P5_aStepOutOfTurnIsRefused(t *testing.T) {
	a := makeAuthority(t)
	if err := a.UseGossipKey(); !errors.Is(err, ErrGossipKeyNone) {
		t.Error(err)
	}
	if err := a.AddGossipKey(); err != nil {
		t.Fatal(err)
	}
	if err := a.AddGossipKey(); !errors.Is(err, ErrGossipKeyAdded) {
		t.Error(err)
	}
	if err := a.RemoveGossipKey(); !errors.Is(err, ErrGossipKeyUnused) {
		t.Error(err)
	}
}

// A file with gossip keys that do not belong together is refused.
func TestParse_refusesGossipKeysThatDoNotBelongTogether(t *testing.T) {
	a := makeAuthority(t)
	file := fileOf(t, a, "agent-1", year, 0)
	one := gossipBlocks(a.Crawl, a.GossipKeys)
	for want, more := range map[string][]byte{
		"two gossip keys have the number 1": one,
		"parts of two files":                gossipBlocks("crawl-2", []GossipKey{newGossipKey(2)}),
		"3 blocks ORBWEAVER CRAWL":          gossipBlocks(a.Crawl, []GossipKey{newGossipKey(2), newGossipKey(3)}),
		`the number "0"`: bytes.Replace(
			gossipBlocks(a.Crawl, []GossipKey{newGossipKey(7)}), []byte("Key: 7"), []byte("Key: 0"), 1),
	} {
		if _, err := Parse(slices.Concat(file, more), noon()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}
