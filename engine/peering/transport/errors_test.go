package transport

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"orbweaver/engine/peering"
)

// Each error of a receiver arrives as what it is.
func TestStatus_carriesEachError(t *testing.T) {
	for want, sent := range map[error]error{
		peering.ErrMalformed: fmt.Errorf("%w: bad", peering.ErrMalformed),
		ErrIdentity:          fmt.Errorf("%w: bad", errReplaced),
		peering.ErrBanned:    fmt.Errorf("%w: bad", peering.ErrBanned),
		ErrFailed:            errors.New("bad"),
		ErrVersion:           fmt.Errorf("%w: bad", ErrVersion),
	} {
		for _, delivered := range []bool{true, false} {
			if got := errorOf(statusOf(sent), delivered); !errors.Is(got, want) || !strings.Contains(got.Error(), "bad") {
				t.Errorf("%v arrives as %v", sent, got)
			}
		}
	}
	for _, wait := range []time.Duration{-1, 0, 1500 * time.Millisecond, waitMax, 2 * waitMax} {
		var got *peering.WaitError
		err := errorOf(statusOf(fmt.Errorf("full: %w", &peering.WaitError{Wait: wait})), true)
		if !errors.As(err, &got) || got.Wait != min(max(wait, 0), waitMax) {
			t.Errorf("a wait of %v arrives as %v", wait, err)
		}
	}
}

// What gRPC reports by itself is never taken for a refusal by the receiver, except a message above the limit.
func TestStatus_ofABrokenConnectionIsNoRefusal(t *testing.T) {
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		err := errorOf(status.Error(code, "by gRPC"), true)
		switch code {
		case codes.Canceled, codes.Unknown, codes.DeadlineExceeded, codes.Internal, codes.Unavailable, codes.DataLoss,
			codes.NotFound, codes.AlreadyExists, codes.Aborted, codes.OutOfRange:
			if !errors.Is(err, ErrUnknown) {
				t.Errorf("%v: %v", code, err)
			}
			if err := errorOf(status.Error(code, "by gRPC"), false); !errors.Is(err, ErrUnreachable) {
				t.Errorf("%v before the call: %v", code, err)
			}
		case codes.InvalidArgument, codes.ResourceExhausted, codes.FailedPrecondition, codes.PermissionDenied,
			codes.Unauthenticated, codes.Unimplemented:
			if errors.Is(err, ErrUnknown) {
				t.Errorf("%v: %v", code, err)
			}
		}
	}
}

// Any status of a peer is an error of this package, with a wait and a text within their limits.
func FuzzErrorOf(f *testing.F) {
	retry, err := anypb.New(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Minute)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(codes.ResourceExhausted), "wait", retry.GetTypeUrl(), retry.GetValue())
	f.Add(uint32(codes.InvalidArgument), strings.Repeat("x", 300), "", []byte(nil))
	f.Add(uint32(99), "", "type.googleapis.com/google.rpc.ErrorInfo", []byte("\xff"))
	f.Fuzz(func(t *testing.T, code uint32, text, kind string, detail []byte) {
		if code == 0 {
			return
		}
		s := status.New(codes.Code(code), text).Proto()
		s.Details = append(s.Details, &anypb.Any{TypeUrl: kind, Value: detail})
		got := errorOf(status.ErrorProto(s), true)
		var quota *peering.WaitError
		if errors.As(got, &quota) {
			if quota.Wait < 0 || quota.Wait > waitMax {
				t.Fatal(quota.Wait)
			}
			return
		}
		known := 0
		for _, one := range []error{ErrUnknown, peering.ErrMalformed, ErrFailed, ErrVersion, ErrIdentity, peering.ErrBanned} {
			if errors.Is(got, one) {
				known++
			}
		}
		if known != 1 || !errors.Is(got, ErrUnknown) && len(got.Error()) > textMax+100 {
			t.Fatalf("%d bytes: %v", len(got.Error()), got)
		}
	})
}
