package membership

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrLeaveNotSent means that an agent left, but could not send the announcement often enough. Some agents may declare
// it dead.
var ErrLeaveNotSent = errors.New("membership: leave not announced to all agents")

// transmitTimeout bounds the time until a change has been sent often enough. Normally this takes a few rounds of
// gossip. A busy machine needs longer.
const transmitTimeout = 10 * time.Second

// Leave announces that this agent leaves, and closes the Service. The other agents report it as left (M7). ctx bounds
// the announcement; the Service is closed in any case. If all other agents leave too, none remains to receive the
// announcement, and this is no error.
func (s *Service) Leave(ctx context.Context) error {
	err := s.announceLeave(ctx)
	return errors.Join(err, s.Close())
}

// announceLeave first gossips metadata in stage leaving. Memberlist does not tell other agents whether a member left or
// died, so the stage does. Memberlist's own leave message follows when the metadata have spread, since it would
// overtake them.
//
// This counts itself how often both are sent. Memberlist would wait for the end of a message, which does not come if
// its queue has lost the message (TestQueue_losesMessages), or if all other agents have left, since it sends nothing to
// those.
func (s *Service) announceLeave(ctx context.Context) error {
	s.closing.Lock()
	defer s.closing.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.state.mu.Lock()
	s.state.table.self.stage = leaving
	s.state.mu.Unlock()
	first := s.packetCount()
	_ = s.announceMetadata(queueOnly)
	if err := s.waitTransmitted(ctx, first); err != nil {
		return err
	}
	spread := time.NewTimer(3 * s.o.Timings.GossipInterval)
	defer spread.Stop()
	select {
	case <-spread.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	first = s.packetCount()
	_ = s.list.Leave(queueOnly)
	return s.waitTransmitted(ctx, first)
}

// waitTransmitted waits until a change has been sent often enough, counted from a number of packets, or until no agent
// remains to receive it.
func (s *Service) waitTransmitted(ctx context.Context, first int64) error {
	timeout := time.NewTimer(transmitTimeout)
	defer timeout.Stop()
	for !s.transmitted(first) {
		select {
		case <-s.sent:
		case <-timeout.C:
			return fmt.Errorf("%w within %v", ErrLeaveNotSent, transmitTimeout)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (s *Service) transmitted(first int64) bool {
	st := &s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	// Memberlist's own formula for the number of transmissions.
	often := s.o.RetransmitMult * int(math.Ceil(math.Log10(float64(st.table.memberlistSize()+1))))
	return st.packets-first >= int64(often) || !st.table.hasRemaining()
}

// packetCount is the number of gossip packets sent so far.
func (s *Service) packetCount() int64 {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.packets
}
