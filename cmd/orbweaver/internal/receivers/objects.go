package receivers

import (
	"cmp"
	"context"
	"io"
	"os"
	"sync"
	"time"

	"orbweaver/engine/upload/objectstore"
	"orbweaver/engine/upload/receipts"
)

// readPatience is how long a store may send nothing when a command reads an object.
const readPatience = 30 * time.Second

// Objects opens objects of removed WARC files, in the stores that their receipts name. Keys and region are those of the
// environment.
type Objects struct {
	ctx      context.Context //nolint:containedctx // of the command
	version  string
	patience time.Duration // how long a store may send nothing

	mu     sync.Mutex
	stores map[string]*objectstore.Store // by target; guarded by mu
}

// NewObjects returns Objects. Their requests end with ctx.
func NewObjects(ctx context.Context, version string) *Objects {
	return &Objects{ctx: ctx, version: version, patience: readPatience, stores: map[string]*objectstore.Store{}}
}

// OpenObject implements receipts.Objects.
func (o *Objects) OpenObject(away *receipts.ElsewhereError, offset, length int64) (io.ReadCloser, error) {
	s, err := o.store(away.Target)
	if err != nil {
		return nil, err
	}
	return objectstore.Open(o.ctx, s, &away.Receipt, offset, length)
}

// store returns the store of a target.
func (o *Objects) store(target string) (*objectstore.Store, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.stores[target]; ok {
		return s, nil
	}
	endpoint, bucket, err := objectstore.SplitTarget(target)
	if err != nil {
		return nil, err
	}
	s, err := objectstore.New(objectstore.Options{
		Target: bucket, Endpoint: endpoint, Version: o.version, Patience: o.patience,
		Region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
	})
	if err != nil {
		return nil, err
	}
	o.stores[target] = s
	return s, nil
}

// Close ends idle connections.
func (o *Objects) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.stores {
		s.Close()
	}
}
