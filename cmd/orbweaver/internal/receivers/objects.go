package receivers

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"orbweaver/engine/operate/upload/objectstore"
	"orbweaver/engine/store/receipts"
)

// readPatience is how long a store may send nothing when a command reads an object.
const readPatience = 30 * time.Second

// Objects opens objects of removed WARC files, in the stores that their receipts name. Keys and region are those of the
// environment.
type Objects struct {
	ctx      context.Context //nolint:containedctx // of the command
	version  string
	patience time.Duration // how long a store may send nothing
	trusted  []string      // endpoints that get signatures with the keys of the environment

	mu     sync.Mutex
	stores map[string]*objectstore.Store // by target; guarded by mu
}

// NewObjects returns Objects. Their requests end with ctx. They go to Amazon, to AWS_ENDPOINT_URL, to this machine and
// to the further endpoints that the user has named: a receipt may be that of another person.
func NewObjects(ctx context.Context, version string, endpoints ...string) *Objects {
	return &Objects{
		ctx: ctx, version: version, patience: readPatience, stores: map[string]*objectstore.Store{},
		trusted: append(endpoints, os.Getenv("AWS_ENDPOINT_URL")),
	}
}

// isTrusted reports whether an endpoint that a receipt names may get what the keys of the environment have signed.
func (o *Objects) isTrusted(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	isAmazon := u.Scheme == "https" && strings.HasSuffix(u.Hostname(), ".amazonaws.com")
	return isAmazon || ip != nil && ip.IsLoopback() || slices.ContainsFunc(o.trusted, func(named string) bool {
		return strings.EqualFold(strings.TrimRight(named, "/"), endpoint)
	})
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
	if !o.isTrusted(endpoint) {
		return nil, fmt.Errorf("a receipt names the object store %s, which is not asked with your keys: "+
			"set AWS_ENDPOINT_URL=%s if you trust it", endpoint, endpoint)
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
