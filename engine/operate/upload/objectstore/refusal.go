package objectstore

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"

	"orbweaver/engine/operate/upload"
)

// isRefusal reports whether a code of S3 says that every request will be refused, until the operator changes something.
func isRefusal(code string) bool {
	switch code {
	case "NoSuchBucket", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "AuthorizationHeaderMalformed",
		"InvalidToken", "ExpiredToken", "InvalidBucketName", "PermanentRedirect", "AllAccessDisabled", "AccountProblem",
		"NotSignedUp", "InvalidRegion", "IllegalLocationConstraintException", "RequestTimeTooSkewed", "InvalidSecurity",
		"AccessForbidden", "UnauthorizedAccess", "Unauthorized":
		return true
	}
	return false
}

// mayPass reports whether a request may succeed later, although its status was one of 400 to 499.
func mayPass(code string) bool {
	switch code {
	case "RequestTimeout", "SlowDown", "SlowDownRead", "SlowDownWrite", "TooManyRequests", "OperationAborted", "Conflict",
		"BadDigest", "IncompleteBody", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch", "NoSuchUpload",
		"NoSuchKey",
		"InvalidPart", "InvalidDigest", "InvalidRange", "PreconditionFailed":
		return true
	}
	return false
}

// refused makes an upload.RefusedError of what will not pass by itself; nil for any other error. text is the same error
// for people.
func refused(err, text error) *upload.RefusedError {
	var notStore *NotStoreError
	var answer minio.ErrorResponse
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	all := func(reason string) *upload.RefusedError {
		return &upload.RefusedError{Reason: reason, All: true, Err: text}
	}
	switch {
	case errors.As(err, &notStore):
		return all("no object store answers")
	case errors.As(err, &dns) && dns.IsNotFound:
		return all("no such host")
	case errors.As(err, &certificate):
		return all("certificate")
	case errors.Is(err, http.ErrSchemeMismatch):
		return all("no TLS")
	case !errors.As(err, &answer):
		return nil
	}
	status := answer.StatusCode
	switch {
	case isRefusal(answer.Code), status == http.StatusUnauthorized,
		status >= 300 && status < 400 && status != http.StatusNotModified:
		return all(answer.Code)
	case status < 400, status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooManyRequests,
		mayPass(answer.Code):
		return nil
	}
	return &upload.RefusedError{Reason: answer.Code, Err: text}
}

// checkTime is how long Check waits for the store.
const checkTime = 30 * time.Second

// checkName is the name of an object that is not there.
const checkName = ".orbweaver-check"

// Check asks whether the bucket is there, and takes objects with the keys. It asks for an object, then begins an upload
// and ends it at once: nothing is stored. An upload.RefusedError will not pass by itself; any other may.
func Check(ctx context.Context, s *Store) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	key := s.key(checkName)
	body, _, _, err := s.core.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
	if err == nil {
		err = body.Close()
	}
	var answer minio.ErrorResponse
	isAnswered := errors.As(err, &answer)
	mayRead := !isAnswered || answer.Code != "AccessDenied" // keys that may only write are right
	if err != nil && mayRead && (!isAnswered || answer.Code != "NoSuchKey") {
		return s.fault(key, err)
	}
	id, err := s.core.NewMultipartUpload(ctx, s.bucket, key, minio.PutObjectOptions{})
	if err == nil {
		_ = s.core.AbortMultipartUpload(ctx, s.bucket, key, id) // it has no parts
		return nil
	}
	if errors.As(err, &answer) && isRefusal(answer.Code) {
		return s.fault(key, err)
	}
	return nil // not every store knows uploads in parts
}

// confirmMissing asks again for an object that HEAD has not found: the answer to GET says whether a store has given it.
func confirmMissing(ctx context.Context, s *Store, key string, err error) error {
	if !errors.Is(err, ErrMissing) {
		return err
	}
	body, _, _, again := s.core.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
	if again == nil {
		return errors.Join(errors.New("the store has the object, and said that it has not"), body.Close())
	}
	var answer minio.ErrorResponse
	if errors.As(again, &answer) && answer.StatusCode == http.StatusNotFound {
		return err
	}
	return again
}
