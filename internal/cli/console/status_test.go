package console

import "testing"

// A terminal of 80 columns shows time, pages, rate and queue, and the beginning of the reason.
func TestFit_keepsTheNumbersThatAreNeeded(t *testing.T) {
	s := Status{
		Numbers: []Number{
			{Text: "4m10s", Rank: 3}, {Text: "18,122 pages", Rank: 6}, {Text: "5 pages/s", Rank: 5},
			{Text: "488 KiB/s", Rank: 1}, {Text: "2,200 hosts", Rank: 0}, {Text: "351 queued", Rank: 4},
			{Text: "12 fetching", Rank: 2},
		},
		Reason: "politeness: 2 sites wait, the next is http://docs.example.org in 200ms",
	}
	for columns, want := range map[int]string{
		160: "4m10s  18,122 pages  5 pages/s  488 KiB/s  2,200 hosts  351 queued  12 fetching | " + s.Reason,
		120: "4m10s  18,122 pages  5 pages/s  351 queued | " + s.Reason,
		80:  "4m10s  18,122 pages  5 pages/s  351 queued | politeness: 2 sites wait, the ne...",
		60:  "18,122 pages  5 pages/s | politeness: 2 sites wait, the n...",
		20:  "18,122 pages | po...",
	} {
		if got := s.Fit(columns); got != want || columnsOf(got) > columns {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
}
