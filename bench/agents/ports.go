package agents

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports are taken from below those that systems give to outgoing connections: an agent that comes back finds its own
// still free.
const (
	portsFrom = 20000
	portsTo   = 32000
)

// ports gives out addresses of loopback without a listener.
type ports struct{ next int }

func newPorts() *ports { return &ports{next: portsFrom + rand.IntN(portsTo-portsFrom)} }

// free is an address on which both a TCP and a UDP port are free just now. It is given once.
func (p *ports) free(ctx context.Context) (string, error) {
	var last error
	for range portsTo - portsFrom {
		if p.next++; p.next >= portsTo {
			p.next = portsFrom
		}
		addr := fmt.Sprintf("127.0.0.1:%d", p.next)
		if last = tryPort(ctx, addr); last == nil {
			return addr, nil
		}
	}
	return "", fmt.Errorf("agents: no free port from %d to %d: %w", portsFrom, portsTo, last)
}

func tryPort(ctx context.Context, addr string) error {
	var c net.ListenConfig
	tcp, err := c.Listen(ctx, "tcp4", addr)
	if err != nil {
		return err
	}
	udp, err := c.ListenPacket(ctx, "udp4", addr)
	if err == nil {
		err = udp.Close()
	}
	return errors.Join(err, tcp.Close())
}
