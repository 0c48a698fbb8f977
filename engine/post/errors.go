package post

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// What Send and Ask fail with. Each error wraps one of these, or is a Quota.
var (
	// ErrUnreachable: there was no connection, so that nothing has arrived.
	ErrUnreachable = errors.New("unreachable")
	// ErrUnknown: the connection broke, or the caller waited no longer, before the peer acknowledged. The batch is not known to have arrived:
	// keep it and send it again.
	ErrUnknown = errors.New("not known to have arrived")
	// ErrRefused: the peer wants this batch or question neither now nor later. A Receive or an Answer wraps it to say so.
	ErrRefused = errors.New("refused")
	// ErrFailed: the peer could not take the batch, or answer; it may another time.
	ErrFailed = errors.New("failed at the peer")
	// ErrVersion: the two have no version of the protocol in common.
	ErrVersion = errors.New("no version in common")
	// ErrIdentity: one of the two does not take the other for who it should be: another crawl, agent, authority, or a certificate that has ended.
	ErrIdentity = errors.New("not who it should be")
	// ErrBanned: the peer does not speak with us for a while.
	ErrBanned = errors.New("banned")
	// ErrClosed: the Office is closed, or the peer was forgotten.
	ErrClosed = errors.New("closed")
)

// Quota is what a Receive or an Answer returns, and Send or Ask at the other end, when the sender has to wait before it sends again.
type Quota struct {
	Wait time.Duration // to the millisecond; at most waitMax arrives
}

// Error implements error.
func (q *Quota) Error() string { return fmt.Sprintf("over the quota: wait for %v", q.Wait) }

const (
	// waitMax is the longest wait that a sender is told, and takes for granted.
	waitMax = time.Hour
	// textMax is how much of an error crosses the wire, in bytes.
	textMax = 256
)

// resultOf puts what a Receive returned into the words of the wire.
func resultOf(err error) result {
	var q *Quota
	switch {
	case err == nil:
		return result{Kind: resultKept}
	case errors.As(err, &q):
		return result{Kind: resultQuota, Wait: min(max(q.Wait, 0), waitMax)}
	case errors.Is(err, ErrRefused):
		return result{Kind: resultRefused, Text: short(err)}
	}
	return result{Kind: resultFailed, Text: short(err)}
}

// err is the way back.
func (r *result) err() error {
	switch r.Kind {
	case resultKept:
		return nil
	case resultQuota:
		return &Quota{Wait: r.Wait}
	case resultRefused:
		return fmt.Errorf("%w: %s", ErrRefused, r.Text)
	}
	return fmt.Errorf("%w: %s", ErrFailed, r.Text)
}

func short(err error) string {
	s := err.Error()
	return s[:min(len(s), textMax)]
}

// refusal is how one end tells the other, as a gRPC status, that it does not speak with it.
type refusal struct {
	kind error // of the errors above
	code codes.Code
}

func refusals() []refusal {
	return []refusal{
		{ErrVersion, codes.FailedPrecondition},
		{ErrIdentity, codes.Unauthenticated},
		{ErrBanned, codes.PermissionDenied},
		{ErrRefused, codes.InvalidArgument},
		{ErrClosed, codes.Aborted},
	}
}

// statusOf is the status for an error of ours.
func statusOf(err error) error {
	for _, r := range refusals() {
		if errors.Is(err, r.kind) {
			return status.Error(r.code, short(err))
		}
	}
	return status.Error(codes.Unknown, short(err))
}

// refusedBy finds in a status what the peer refused with; nil if it did not.
func refusedBy(err error) error {
	s := status.Convert(err)
	for _, r := range refusals() {
		if s.Code() == r.code && !errors.Is(r.kind, ErrClosed) {
			text := s.Message()
			return fmt.Errorf("%w: the peer says: %s", r.kind, text[:min(len(text), textMax)])
		}
	}
	return nil
}
