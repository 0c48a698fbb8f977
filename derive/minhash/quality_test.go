package minhash

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/simhash"
)

// labelled is a text with what is known about it.
type labelled struct {
	words    []string
	original int // number of the text that it is a copy of, or -1
	class    string
}

// generator makes labelled texts. The frequencies of its words are those of Zipf's law.
type generator struct {
	random *rand.Rand
	zipf   *rand.Zipf
}

func newGenerator() *generator {
	random := rand.New(rand.NewPCG(1, 2))
	return &generator{random, rand.NewZipf(random, 1.07, 2.7, 30_000)}
}

// draw returns n words. They are spelled with letters only, since numbers are normalised.
func (g *generator) draw(n int) []string {
	all := make([]string, n)
	for i := range all {
		var word []byte
		for number := g.zipf.Uint64() + 1; number > 0; number /= 26 {
			word = append(word, byte('a'+number%26))
		}
		all[i] = string(word)
	}
	return all
}

const (
	textWords     = 500
	textsPerClass = 100
	textsPerSite  = 20 // that have their boilerplate in common
)

// texts makes pages of sites whose boilerplate is a part of each page, and pages with two copies whose words were
// changed: at random places, or all in a row.
func (g *generator) texts(shares, changes []int) (all []labelled) {
	for _, share := range shares {
		var boilerplate []string
		for i := range textsPerClass {
			if i%textsPerSite == 0 {
				boilerplate = g.draw(textWords * share / 100)
			}
			text := slices.Concat(boilerplate, g.draw(textWords-len(boilerplate)))
			all = append(all, labelled{text, -1, siteClass(share)})
		}
	}
	for _, change := range changes {
		n := textWords * change / 100
		for range textsPerClass {
			original := g.draw(textWords)
			all = append(all, labelled{original, -1, ""})
			scattered := slices.Clone(original)
			for _, i := range g.random.Perm(textWords)[:n] {
				scattered[i] = g.draw(1)[0]
			}
			together := slices.Clone(original)
			copy(together[g.random.IntN(textWords-n):], g.draw(n))
			all = append(all, labelled{scattered, len(all) - 1, scatteredClass(change)})
			all = append(all, labelled{together, len(all) - 2, togetherClass(change)})
		}
	}
	return all
}

func siteClass(share int) string       { return fmt.Sprintf("%d %% boilerplate", share) }
func scatteredClass(change int) string { return fmt.Sprintf("%d %% changed at random places", change) }
func togetherClass(change int) string  { return fmt.Sprintf("%d %% changed in a row", change) }

// isNearBySimHash reports whether package simhash finds one when it looks for the other.
func isNearBySimHash(a, b *Signature) bool {
	return bits.OnesCount64(a.SimHash^b.SimHash) <= simhash.Distance
}

// isNearByMinHash reports whether two texts share a bucket.
func isNearByMinHash(a, b *Signature) bool {
	for i := range a.Buckets {
		if a.Buckets[i] == b.Buckets[i] {
			return true
		}
	}
	return false
}

// Recall for copies, and false pairs for pages with common boilerplate. The figures of docs/guide/derive.md are from
//
//	go test -v -run TestQuality ./derive/minhash
func TestQuality(t *testing.T) {
	shares, changes := []int{0, 25, 50, 75, 90}, []int{1, 2, 5, 10, 20}
	all := newGenerator().texts(shares, changes)
	signer := NewSigner()
	signatures := make([]Signature, len(all))
	for i := range all {
		signatures[i] = signer.Sign([]byte(strings.Join(all[i].words, " ")))
	}
	for _, method := range []struct {
		name    string
		isNear  func(a, b *Signature) bool
		recall  map[int]float64 // at least
		falseOf map[int]int     // at most
	}{
		{"SimHash", isNearBySimHash, map[int]float64{1: 0.7, 2: 0.5}, map[int]int{0: 0, 25: 0, 50: 2, 75: 10}},
		{"MinHash", isNearByMinHash, map[int]float64{1: 0.99, 2: 0.9, 5: 0.2}, map[int]int{0: 0, 25: 0, 50: 10}},
	} {
		right, wrong := compare(all, signatures, method.isNear)
		for _, change := range changes {
			recall := float64(right[scatteredClass(change)]) / textsPerClass
			t.Logf("%s, %s: recall %.3f", method.name, scatteredClass(change), recall)
			if recall < method.recall[change] {
				t.Error("that is too low")
			}
			t.Logf("%s, %s: recall %.3f", method.name, togetherClass(change),
				float64(right[togetherClass(change)])/textsPerClass)
		}
		for _, share := range shares {
			n := wrong[siteClass(share)]
			t.Logf("%s, %s: %d of %d pairs of a site", method.name, siteClass(share), n,
				textsPerClass*(textsPerSite-1)/2)
			if most, ok := method.falseOf[share]; ok && n > most {
				t.Error("these are too many")
			}
		}
		rights, wrongs, worst := sum(right), sum(wrong), wrong[siteClass(90)]
		t.Logf("%s: %d pairs are right, %d wrong: precision %.3f; without 90 %% boilerplate %.3f", method.name,
			rights, wrongs, ratio(rights, wrongs), ratio(rights, wrongs-worst))
	}
}

// compare counts the pairs that are near, by the class of the later text: copies, and others.
func compare(all []labelled, signatures []Signature, isNear func(a, b *Signature) bool) (right, wrong map[string]int) {
	right, wrong = map[string]int{}, map[string]int{}
	for i := range all {
		for j := range i {
			switch {
			case !isNear(&signatures[i], &signatures[j]):
			case all[i].original == j:
				right[all[i].class]++
			case all[i].original >= 0 && all[i].original == all[j].original: // copies of one text
			default:
				wrong[all[i].class]++
			}
		}
	}
	return right, wrong
}

func sum(counts map[string]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}

func ratio(right, wrong int) float64 { return float64(right) / float64(max(right+wrong, 1)) }
