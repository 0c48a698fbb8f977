package transport

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"orbweaver/engine/peering"
)

// What Send and Call fail with. Each error wraps one of these, peering.ErrMalformed or peering.ErrBanned, or is a
// *peering.WaitError. Receive and Respond return the last three.
var (
	// ErrUnreachable: there was no connection, so the peer has received nothing.
	ErrUnreachable = errors.New("unreachable")
	// ErrUnknown: the connection broke, or the caller stopped waiting, before the peer answered. The peer may have
	// received the batch or not: keep it and send it again.
	ErrUnknown = errors.New("not known to have arrived")
	// ErrFailed: the peer could not process the batch or request now. It may succeed later.
	ErrFailed = errors.New("failed at the peer")
	// ErrVersion: the peer does not speak this protocol.
	ErrVersion = errors.New("another protocol version")
	// ErrIdentity: one agent does not accept the identity of the other: another crawl, agent or authority, or a
	// certificate that has expired or was replaced.
	ErrIdentity = errors.New("wrong identity")
	// ErrClosed: the Transport was closed, or the peer was forgotten.
	ErrClosed = errors.New("closed")
)

// Refusals at the receiver that have no error at the sender.
var (
	errMalformed = errors.New("malformed message")
	errTooLong   = errors.New("message above the size limit")
	errTooMany   = errors.New("too many agents or connections")
)

const (
	// waitMax is the longest wait that a receiver sends, and that a sender believes.
	waitMax = time.Hour
	// textMax is how much of an error text crosses the network, in bytes.
	textMax = 256
)

// isFinal reports whether sending again at once is in vain: the peer or its identity has to change first.
func isFinal(err error) bool {
	return errors.Is(err, ErrIdentity) || errors.Is(err, ErrVersion) || errors.Is(err, peering.ErrBanned)
}

// statusCode pairs an error with the status that carries it. gRPC itself uses none of these codes, except
// Unimplemented for a method that the other end does not have.
type statusCode struct {
	err  error
	code codes.Code
}

func statusCodes() []statusCode {
	return []statusCode{
		{peering.ErrMalformed, codes.InvalidArgument},
		{errMalformed, codes.InvalidArgument},
		{errTooLong, codes.InvalidArgument},
		{ErrIdentity, codes.Unauthenticated},
		{peering.ErrBanned, codes.PermissionDenied},
		{ErrVersion, codes.Unimplemented},
	}
}

// statusOf is the status that carries an error of Receive, Respond or admission to the sender. ErrFailed stands for all
// errors that have no code of their own.
func statusOf(err error) error {
	var quota *peering.WaitError
	if errors.As(err, &quota) {
		wait := durationpb.New(min(max(quota.Wait, 0), waitMax))
		s, err := status.New(codes.ResourceExhausted, quota.Error()).
			WithDetails(&errdetails.RetryInfo{RetryDelay: wait})
		if err != nil {
			panic("BUG: transport: a status without room for details: " + err.Error())
		}
		return s.Err()
	}
	for _, c := range statusCodes() {
		if errors.Is(err, c.err) {
			return status.Error(c.code, shortText(err))
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return status.FromContextError(err).Err()
	}
	return status.Error(codes.FailedPrecondition, shortText(err))
}

// errorOf is the error for a status that a call ended with. delivered tells whether the peer may have received the
// message.
func errorOf(err error, delivered bool) error {
	s := status.Convert(err)
	text := s.Message()
	text = text[:min(len(text), textMax)]
	switch s.Code() {
	case codes.ResourceExhausted:
		for _, detail := range s.Details() {
			if retry, ok := detail.(*errdetails.RetryInfo); ok {
				return &peering.WaitError{Wait: min(max(retry.GetRetryDelay().AsDuration(), 0), waitMax)}
			}
		}
		return fmt.Errorf("%w: %s", peering.ErrMalformed, text) // above a size limit of gRPC
	case codes.FailedPrecondition:
		return fmt.Errorf("%w: %s", ErrFailed, text)
	case codes.DeadlineExceeded: // gRPC tells the deadline to the receiver, which may end the call a little earlier
		err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	for _, c := range statusCodes() {
		if s.Code() == c.code {
			return fmt.Errorf("%w: the peer says: %s", c.err, text)
		}
	}
	if delivered {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

func shortText(err error) string {
	s := err.Error()
	return s[:min(len(s), textMax)]
}
