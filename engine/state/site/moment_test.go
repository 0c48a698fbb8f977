package site

import (
	"testing"
	"time"
)

// The time from a Moment on is right to a millisecond or two, also when its 32 bits wrap.
func TestMoment_until(t *testing.T) {
	if _, ok := Moment(0).Until(time.Now()); ok {
		t.Error("no Moment has a time")
	}
	for _, ended := range []time.Time{time.Unix(1e9, 0), time.UnixMilli(1<<40 - 1500), time.UnixMilli(1 << 40)} {
		gap, ok := MomentOf(ended).Until(ended.Add(4 * time.Second))
		if !ok || gap.Round(2*time.Millisecond) != 4*time.Second {
			t.Errorf("from %v: %v, %t", ended, gap, ok)
		}
	}
}

// The last exchange is of this run: it has no encoded form.
func TestState_theLastExchangeIsNotEncoded(t *testing.T) {
	again, err := Decode(Append(nil, &State{LastExchange: 7}), NewRulesPool(0))
	if err != nil || again.LastExchange != 0 {
		t.Errorf("%v, %v", again.LastExchange, err)
	}
}
