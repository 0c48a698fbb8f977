package membership

import (
	"net"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"orbweaver/engine/peering"
)

// guardedTransport stands between memberlist and a transport. It drops packets and streams that no gossip key opens,
// limits incoming streams, and reports members that do not answer on a stream. So memberlist's log is not needed for
// these facts.
type guardedTransport struct {
	memberlist.NodeAwareTransport
	keys *keyring
	// onOtherKey is called for each packet or stream that no key opens.
	onOtherKey func(from string)
	// onNoAnswer is called after a stream to a member that could not be opened, or brought no bytes.
	onNoAnswer func(process string)

	limits  peering.SourceLimit // of incoming streams
	packets chan *memberlist.Packet
	streams chan net.Conn
	closing chan struct{} // closed when Shutdown begins
	ended   chan struct{} // closed when the inner transport sends nothing more
	once    sync.Once
	pumping sync.WaitGroup
}

func newGuardedTransport(inner memberlist.NodeAwareTransport, keys *keyring) *guardedTransport {
	return &guardedTransport{
		NodeAwareTransport: inner,
		keys:               keys,
		limits:             peering.SourceLimit{Max: maxStreams, PerSource: maxStreamsOfSource},
		packets:            make(chan *memberlist.Packet),
		streams:            make(chan net.Conn),
		closing:            make(chan struct{}),
		ended:              make(chan struct{}),
	}
}

// start begins to pass on packets and streams, until Shutdown.
func (t *guardedTransport) start() { t.pumping.Go(t.pump) }

// pump continues until the inner transport has ended, since this waits until its packets and streams are taken.
func (t *guardedTransport) pump() {
	var scratch []byte
	for {
		select {
		case p := <-t.NodeAwareTransport.PacketCh():
			if t.keys.encrypts {
				var ok bool
				if ok, scratch = t.keys.opens(p.Buf, nil, scratch); !ok {
					t.onOtherKey(p.From.String())
					continue
				}
			}
			select {
			case t.packets <- p:
			case <-t.closing:
			}
		case conn := <-t.NodeAwareTransport.StreamCh():
			limited, ok := admit(&t.limits, conn)
			if !ok {
				continue
			}
			limited = &guardedStream{Conn: limited, keys: t.keys, onOtherKey: t.onOtherKey}
			select {
			case t.streams <- limited:
			case <-t.closing:
				_ = limited.Close()
			}
		case <-t.ended:
			return
		}
	}
}

// PacketCh implements memberlist.Transport.
func (t *guardedTransport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// StreamCh implements memberlist.Transport.
func (t *guardedTransport) StreamCh() <-chan net.Conn { return t.streams }

// DialTimeout implements memberlist.Transport.
func (t *guardedTransport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return t.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

// DialAddressTimeout implements memberlist.NodeAwareTransport.
func (t *guardedTransport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	conn, err := t.NodeAwareTransport.DialAddressTimeout(a, timeout)
	if err != nil {
		t.onNoAnswer(a.Name)
		return nil, err
	}
	return &guardedStream{
		Conn: conn, keys: t.keys, onOtherKey: t.onOtherKey, onNoAnswer: func() { t.onNoAnswer(a.Name) },
	}, nil
}

// Shutdown implements memberlist.Transport. A second call does nothing more than the inner transport's.
func (t *guardedTransport) Shutdown() error {
	t.once.Do(func() { close(t.closing) })
	err := t.NodeAwareTransport.Shutdown()
	select {
	case <-t.ended:
	default:
		close(t.ended)
	}
	t.pumping.Wait()
	return err
}
