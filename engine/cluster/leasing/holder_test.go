package leasing

import (
	"testing"
	"time"
)

// An address that is in an exchange is denied to other sites of the same agent, until the exchange has ended.
func TestHolder_deniesAnAddressInUse(t *testing.T) {
	h, now, a := new(Holder), time.Now(), Addr{1}
	begin := func() (ok bool, retryAt time.Time) { return h.BeginExchange(a, "granter", func() {}, now) }
	if ok, _ := begin(); ok {
		t.Fatal("without a lease")
	}
	granted := Response{Granted: true, EndsIn: time.Minute}
	h.HandleResponses("granter", []Request{{Kind: Acquire, Addr: a}}, []Response{granted}, now, now)
	if ok, _ := begin(); !ok {
		t.Fatal("with a lease")
	}
	if ok, retryAt := begin(); ok || !retryAt.After(now) {
		t.Errorf("during an exchange: %v, again at %v", ok, retryAt)
	}
	h.EndExchange(a, time.Time{}, true, now)
	if ok, _ := begin(); !ok {
		t.Error("after the exchange")
	}
}
