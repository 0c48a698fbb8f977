package objectstore

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// Options say where files go.
type Options struct {
	Target   string // s3://BUCKET/PREFIX
	Endpoint string // a URL without a path; empty for that of Amazon
	Region   string // may be empty
	Version  string // of the program, for the User-Agent

	// PartBytes is the length of a part of a file. A longer file is sent in parts, and continued after an interruption.
	// It is at least 5 MiB; 0 is the default of 64 MiB.
	PartBytes int64
	// Patience is how long a request may make no progress; 0 is the default of 5 minutes.
	Patience time.Duration
}

const (
	partBytes = 64 << 20
	partsMost = 10000 // of S3
	patience  = 5 * time.Minute
	// defaultRegion is what stores that know no regions take.
	defaultRegion  = "us-east-1"
	amazonEndpoint = "https://s3.amazonaws.com"
	googleEndpoint = "storage.googleapis.com"
	// keyMost is the longest key of S3, in bytes.
	keyMost = 1024
)

// ErrNoCredentials means that neither the environment nor a file has a key.
var ErrNoCredentials = errors.New("no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, " +
	"or write ~/.aws/credentials (AWS_PROFILE chooses a profile)")

// ParseTarget returns the bucket and the prefix of s3://BUCKET/PREFIX. The prefix has no slash at its ends.
func ParseTarget(target string) (bucket, prefix string, err error) {
	rest, ok := strings.CutPrefix(target, "s3://")
	bucket, prefix, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" {
		return "", "", fmt.Errorf("%q is not of the form s3://BUCKET/PREFIX", target)
	}
	if s3utils.CheckValidBucketNameStrict(bucket) != nil {
		return "", "", fmt.Errorf("%q: %q is no name of a bucket: 3 to 63 lower-case letters, digits, dots and hyphens, "+
			"with a letter or a digit at both ends, and no IP address", target, bucket)
	}
	prefix = strings.Trim(prefix, "/")
	if prefix != "" && path.Clean(prefix) != prefix || strings.HasPrefix(prefix, "..") || len(prefix) > keyMost/2 {
		return "", "", fmt.Errorf("%q: the prefix is no plain path", target)
	}
	return bucket, prefix, nil
}

// parseEndpoint returns host and port of an endpoint, and whether it takes TLS.
func parseEndpoint(endpoint string) (host string, secure bool, err error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", false, fmt.Errorf("endpoint: %w", err)
	}
	if u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.User != nil ||
		u.RawQuery != "" {
		return "", false, fmt.Errorf("endpoint %q is not of the form https://HOST:PORT", u.Redacted())
	}
	return u.Host, u.Scheme == "https", nil
}

// Validate reports what is wrong with the target and the endpoint.
func (o *Options) Validate() error {
	_, _, err := ParseTarget(o.Target)
	if o.Endpoint != "" {
		_, _, endpointErr := parseEndpoint(o.Endpoint)
		err = errors.Join(err, endpointErr)
	}
	return err
}

// CheckKeys returns an error if there are no credentials.
func CheckKeys() error {
	_, err := findKeys()
	return err
}

func findKeys() (*credentials.Credentials, error) {
	keys := credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.EnvMinio{}, &credentials.FileAWSCredentials{},
	})
	v, err := keys.GetWithContext(&credentials.CredContext{})
	switch {
	case err != nil:
		return nil, fmt.Errorf("credentials: %w", err)
	case v.AccessKeyID == "" || v.SecretAccessKey == "":
		return nil, ErrNoCredentials
	}
	return keys, nil
}

// New returns a Store. It looks for credentials, and sends nothing.
func New(o Options) (*Store, error) {
	s := &Store{partBytes: o.PartBytes, patience: o.Patience, resumeWait: resumeWait}
	if s.partBytes == 0 {
		s.partBytes = partBytes
	}
	if s.patience == 0 {
		s.patience = patience
	}
	var err error
	if s.bucket, s.prefix, err = ParseTarget(o.Target); err != nil {
		return nil, err
	}
	endpoint := o.Endpoint
	if endpoint == "" {
		endpoint = amazonEndpoint
	}
	host, secure, err := parseEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	if o.Region == "" && endpoint != amazonEndpoint {
		o.Region = defaultRegion
	}
	keys, err := findKeys()
	if err != nil {
		return nil, err
	}
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, fmt.Errorf("object store: %w", err)
	}
	transport.ResponseHeaderTimeout = s.patience
	s.transport = transport
	s.core, err = minio.NewCore(host, &minio.Options{
		Creds: keys, Secure: secure, Region: o.Region, Transport: checkedTransport{transport}, MaxRetries: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("object store: %w", err)
	}
	s.core.SetAppInfo("orbweaver", o.Version)
	s.checksums = !strings.HasSuffix(host, googleEndpoint)
	s.target = endpoint + "/" + path.Join(s.bucket, s.prefix)
	return s, nil
}
