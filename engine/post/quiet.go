package post

import (
	"io"

	"google.golang.org/grpc/grpclog"
)

// Quiet silences the log of gRPC, which is one for the whole process and would say on standard error what Send returns and Stats counts. A
// program calls it once, before its first Office.
func Quiet() { grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard)) }
