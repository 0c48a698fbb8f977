package crawl

import (
	"testing"

	"orbweaver/engine/frontier/order"
	"orbweaver/engine/operate/explain"
	"orbweaver/engine/state/queued"
)

// The class of a URL is kept with the URL while it is queued.
func TestOrderText_ofAURLThatIsNoLongerQueued(t *testing.T) {
	for result, want := range map[explain.Result]string{
		explain.Queued:     "focused: class 13 of 16 by its score 3",
		explain.InExchange: "focused: no longer queued; its class is not kept",
		explain.Fetched:    "focused: no longer queued; its class is not kept",
		explain.NeverSeen:  "focused: its class is not known, since its score is kept with queued URLs alone",
	} {
		policy := order.New(order.Options{Visit: order.Visit{Mode: order.ModeFocused}}, 1, nil)
		e := &explain.Evidence{Result: result}
		e.Order.Explanation = policy.Explain(&queued.URL{Score: 3}, result == explain.Queued)
		if got := orderText(e); got != want {
			t.Errorf("%s: %s; want %s", result, got, want)
		}
	}
}
