package receivers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"orbweaver/engine/operate/upload"
	"orbweaver/engine/operate/upload/objectstore"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/warc/waczfs"
)

// storeOptions adds what the environment says to the flags.
func storeOptions(o *upload.Options, version string) objectstore.Options {
	return objectstore.Options{
		Target: o.Target, Version: version, PartBytes: o.Part,
		Endpoint: cmp.Or(o.Endpoint, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL")),
		Region:   cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
	}
}

// Check reports what is wrong with the options.
func Check(o *upload.Options) error {
	err := o.Validate()
	if args := strings.Fields(o.Command); len(args) > 0 {
		if fault := checkProgram(args[0]); fault != nil {
			err = errors.Join(err, fmt.Errorf("--on-warc-close: %w", fault))
		}
	}
	if o.Target == "" {
		return err
	}
	store := storeOptions(o, "")
	if _, _, fault := objectstore.ParseTarget(store.Target); fault != nil {
		return errors.Join(err, fmt.Errorf("--upload: %w", fault), checkEndpoint(store))
	}
	return errors.Join(err, checkEndpoint(store))
}

// checkEndpoint reports an endpoint that is none.
func checkEndpoint(store objectstore.Options) error {
	store.Target = "s3://bucket"
	if err := store.Validate(); err != nil {
		return fmt.Errorf("--upload-endpoint: %w", err)
	}
	return nil
}

// CheckKeys reports if there are no keys for the object store.
func CheckKeys(o *upload.Options) error {
	if o.FromStore {
		if err := objectstore.CheckKeys(); err != nil {
			return fmt.Errorf("--refresh-from-store: %w", err)
		}
	}
	if o.Target == "" {
		return nil
	}
	s, err := OpenStore(o, "")
	if err != nil {
		return err
	}
	s.Close()
	return nil
}

// CheckStore asks the object store of --upload whether it takes files with these keys. Its error will not pass by
// itself. A fault that may pass is logged.
func CheckStore(ctx context.Context, o *upload.Options, version string, log *slog.Logger) error {
	if o.Target == "" {
		return nil
	}
	s, err := OpenStore(o, version)
	if err != nil {
		return err
	}
	defer s.Close()
	err = objectstore.Check(ctx, s)
	if refusal, ok := errors.AsType[*upload.RefusedError](err); ok {
		return fmt.Errorf("--upload: nothing can be sent to %s (%s): %w", o.Target, refusal.Reason, err)
	}
	if err != nil && ctx.Err() == nil {
		log.Warn("the object store does not answer now: WARC files wait for it", "target", s.Target(), "error", err)
	}
	return nil
}

// OpenStore opens the object store of --upload.
func OpenStore(o *upload.Options, version string) (*objectstore.Store, error) {
	s, err := objectstore.New(storeOptions(o, version))
	if err != nil {
		return nil, fmt.Errorf("--upload: %w", err)
	}
	return s, nil
}

// Disk returns the disk for commands that read archives: WACZ files are directories, WARC files that were removed here
// are listed, and s3://BUCKET/KEY is an object, which is read with the keys, the endpoint and the region of the
// environment.
func Disk() *receipts.Disk {
	buckets := objectstore.NewBuckets(context.Background(), vfs.Disk(), func(bucket string) (*objectstore.Store, error) {
		o := storeOptions(&upload.Options{Target: "s3://" + bucket}, "")
		o.Patience = readPatience
		return objectstore.New(o)
	})
	return receipts.Over(waczfs.Over(buckets))
}
