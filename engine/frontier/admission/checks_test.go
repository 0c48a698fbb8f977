package admission

import (
	"testing"

	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/queued"
)

// What an embed beyond the fourth leads to stays beyond it, whatever redirects lie between. A link of it counts from
// the beginning, since it is a page of the scope.
func TestRules_embedsBeyondTheFourthStayBeyond(t *testing.T) {
	r := new(Rules)
	at := queued.URL{}
	for n, kind := range []parse.Kind{
		parse.CSS, parse.CSS, parse.Redirect, parse.CSS, parse.Image, parse.CSS, parse.Redirect,
		parse.CSS, parse.Image,
	} {
		want := []int{1, 2, 2, 3, 4, 5, 5, 5, 5}[n]
		before, own := at, at
		if before.Depth++; kind == parse.Redirect {
			before.Depth--
		}
		r.hop(&own, &before, kind)
		if own.Embeds != want || queued.IsRequisite(own.Embeds) != (want <= queued.EmbedsMax) {
			t.Errorf("hop %d: %d embeds, want %d", n+1, own.Embeds, want)
		}
		at = queued.MustDecode(queued.Append(nil, &queued.URL{Embeds: own.Embeds, Depth: own.Depth, Rest: []byte("/")}))
	}
	if at.Depth != 3 {
		t.Errorf("depth %d: only the embeds beyond the fourth count as links", at.Depth)
	}
	if own := at; true {
		if r.hop(&own, &at, parse.Anchor); own.Embeds != 0 {
			t.Errorf("a link of it has %d embeds", own.Embeds)
		}
	}
}
