package logreport

import (
	"strings"
	"testing"

	"orbweaver/internal/vfs"
)

// listed are the URLs of seeds, with their states.
func listed(list *SeedList) string {
	var all []string
	for _, s := range list.Seeds {
		all = append(all, string(s.State)+" "+s.URL)
	}
	return strings.Join(all, "\n")
}

// The list of seeds has what the report of seeds has, in the order that is wanted, of the seeds that are wanted.
func TestListSeeds_sortsAndFilters(t *testing.T) {
	fsys := vfs.NewMem(1)
	write(t, fsys, strings.Split(strings.TrimSpace(example), "\n"),
		"http://a.test/", "http://b.test/", "http://no.test/", "http://out.test/", "http://late.test/",
		"http://theirs.test/")
	owner := func(url []byte) string {
		if string(url) == "http://theirs.test/" {
			return "a2"
		}
		return ""
	}
	for _, c := range []struct {
		q        SeedQuery
		matching int
		want     string
	}{
		{SeedQuery{}, 6, "fetched http://a.test/\nredirected http://b.test/\nfailed http://no.test/\n" +
			"refused http://out.test/\nqueued http://late.test/\nother-agent http://theirs.test/"},
		{SeedQuery{Sort: SortByState, Limit: 3}, 6,
			"failed http://no.test/\nrefused http://out.test/\nqueued http://late.test/"},
		{SeedQuery{Sort: SortByTime, Limit: 2}, 6, "refused http://out.test/\nfailed http://no.test/"},
		{SeedQuery{State: SeedQueued}, 1, "queued http://late.test/"},
		{SeedQuery{Outcome: "name-not-found"}, 1, "failed http://no.test/"},
		{SeedQuery{Suffix: ".B.test"}, 1, "redirected http://b.test/"},
		{SeedQuery{Suffix: "est"}, 0, ""},
	} {
		c.q.Owner = owner
		list, err := ListSeeds(t.Context(), fsys, "crawl", c.q)
		if err != nil || listed(&list) != c.want || list.Matching != c.matching || list.States[SeedFetched] != 1 {
			t.Errorf("%+v: %d of %v, %v\n%s", c.q, list.Matching, list.States, err, listed(&list))
		}
	}
	list, err := ListSeeds(t.Context(), fsys, "crawl", SeedQuery{Suffix: "b.test", Owner: owner})
	if err != nil || list.Seeds[0].RedirectedTo != "http://a.test/x" || list.Seeds[0].Time != "T:04" {
		t.Errorf("%+v, %v", list.Seeds, err)
	}
}

// A query that cannot be answered says which words are possible.
func TestListSeeds_refusesAWrongQuery(t *testing.T) {
	for said, q := range map[string]SeedQuery{
		"sort: \"size\"": {Sort: "size"}, "state: \"dead\"": {State: "dead"}, "limit: 1001": {Limit: 1001},
	} {
		if _, err := ListSeeds(t.Context(), vfs.NewMem(1), "crawl", q); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}
