package traps

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"orbweaver/engine"
	"orbweaver/engine/frontier/admission"
)

// few is the size of the web beside the many traps of this file, and fewFloor the floor of their crawls.
const (
	few      = 300
	fewFloor = 100
)

// bounded crawls a trap beside few pages, with the settings that crawl has by default for requisites and scripts.
func bounded(t *testing.T, c Case) {
	t.Helper()
	defer func(before int) { *floor = before }(*floor)
	*floor = fewFloor
	judgeCase(t, c, func(c *engine.Config) {
		c.Admission.Requisites, c.Admission.Speculative = admission.RequisitesAll, admission.SpeculativeOn
	}, refused(t, "novelty"))
}

// Files that consist of addresses, numbers and dates say nothing new, in each format.
func TestEndlessFilesAreBounded(t *testing.T) {
	for i, format := range Formats() {
		for k, naming := range Namings() {
			if reduced && k != i%len(Namings()) {
				continue // make scenario runs all
			}
			fan := 1 + 2*((i+k)%2)
			t.Run(fmt.Sprintf("%s-%s-%d", format, naming, fan), func(t *testing.T) {
				bounded(t, EndlessFiles(*seed, Size{Honest: few}, format, naming, fan))
			})
		}
	}
}

// Whatever a trap is made of, its requests are bounded: pages, redirects, failures and images.
func TestTrapsOfSeveralKindsAreBounded(t *testing.T) {
	cases := Turns(*seed, Size{Honest: few})
	if reduced {
		cases = cases[:len(cases)-4] // of the six with redirects, two; make scenario runs all
	}
	for _, c := range cases {
		t.Run(c.ID+" "+c.Name, func(t *testing.T) { bounded(t, c) })
	}
}

// A site of tables has numbers that no address has. It is no trap: of thirty floors of pages none is delayed, although
// each is found by the one before.
func TestTablesOfNumbersAreNew(t *testing.T) {
	const pages = 30 * fewFloor
	c := Case{
		ID: "TABLES", Name: "tables of numbers", Seeds: []string{"http://tables.test/table/0"},
		Honest: pages, Addr: spread(8),
		Answer: func(_, target string) Answer {
			n, err := strconv.Atoi(strings.TrimPrefix(target, "/table/"))
			if err != nil || n >= pages {
				return Answer{Status: 404}
			}
			r := rand.New(rand.NewPCG(uint64(n), 4))
			var rows strings.Builder
			for range 20 {
				fmt.Fprintf(&rows, "<tr><td>%d</td><td>%d.%02d</td></tr>", r.IntN(1e7), r.IntN(1e4), r.IntN(100))
			}
			next := fmt.Sprintf("/table/%d", n+1)
			return Answer{Kind: Honest, Body: page(fmt.Sprintf("Table %d", n), "<table>"+rows.String()+"</table>", next)}
		},
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, c)
		r := w.crawl(t, func(c *engine.Config) { c.Traps.TrapFloor = fewFloor })
		if s := w.Score(); s.Honest != pages || r.NoveltyDelayed > 0 {
			t.Errorf("%d of %d pages are fetched, %d delayed; %v", s.Honest, pages, r.NoveltyDelayed, r.Outcomes)
		}
	})
}
