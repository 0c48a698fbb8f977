package objectstore

import (
	"errors"
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	for target, want := range map[string][2]string{
		"s3://bucket":       {"bucket", ""},
		"s3://bucket/":      {"bucket", ""},
		"s3://bucket/a/b":   {"bucket", "a/b"},
		"s3://bucket/a/b//": {"bucket", "a/b"},
	} {
		if bucket, prefix, err := ParseTarget(target); err != nil || bucket != want[0] || prefix != want[1] {
			t.Errorf("%s: %q, %q, %v", target, bucket, prefix, err)
		}
	}
	for _, bad := range []string{
		"", "bucket", "s3://", "s3:///a", "https://bucket/a", "s3://key:secret@bucket/a", "s3://bucket/a//b",
		"s3://bucket/../b", "s3://bucket/a/./b", "s3://bucket:80/a",
		"s3://b/p", "s3://Bucket/a", "s3://my_bucket", "s3://-bucket", "s3://a..b", "s3://192.0.2.1/a",
		"s3://" + strings.Repeat("x", 64),
	} {
		if _, _, err := ParseTarget(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestValidate_refusesEndpointsThatAreNone(t *testing.T) {
	for _, good := range []string{"", "https://s3.example.org", "http://127.0.0.1:9000/"} {
		if err := (&Options{Target: "s3://bucket", Endpoint: good}).Validate(); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"s3.example.org", "ftp://x", "https://", "https://x/path", "https://key:secret@x", "https://x?a=b", ":",
	} {
		if (&Options{Target: "s3://bucket", Endpoint: bad}).Validate() == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestNew_needsCredentials(t *testing.T) {
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_PROFILE",
		"MINIO_ROOT_USER", "MINIO_ACCESS_KEY", "MINIO_ROOT_PASSWORD", "MINIO_SECRET_KEY",
		"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	if _, err := New(Options{Target: "s3://bucket", Endpoint: "http://127.0.0.1:1"}); !errors.Is(err, ErrNoCredentials) {
		t.Errorf("got %v", err)
	}
}
