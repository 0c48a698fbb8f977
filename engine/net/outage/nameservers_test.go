package outage

import (
	"context"
	"net/netip"
	"testing"

	"orbweaver/dnsres"
)

// hijackers are name servers that give every name an address.
type hijackers struct{ noDetector }

// Health has their address.
func (hijackers) Health() dnsres.Health {
	return dnsres.Health{Hijack: netip.MustParseAddr("192.0.2.80")}
}

// The warning about name servers that answer names that do not exist comes once, and names the address.
func TestNameServers_warnOnceOfAHijack(t *testing.T) {
	var said []any
	n := NewNameServers(hijackers{}, func(_ string, args ...any) { said = append(said, args...) })
	for range 3 {
		n.CheckHijack(context.Background())
	}
	if len(said) != 2 || said[1] != "192.0.2.80" {
		t.Errorf("warned of %v", said)
	}
	n = NewNameServers(nil, func(msg string, _ ...any) { t.Error(msg) })
	n.CheckHijack(t.Context())
}
