package urlx

import "errors"

// Error is the reason why a URL has no normal form. The values are constants: compare with errors.Is or ==.
type Error string

// The reasons for which a URL is refused.
const (
	// ErrScheme: the URL is absolute and neither http nor https (mailto:, javascript:, data:, ftp: ...).
	ErrScheme Error = "scheme is not http or https"
	// ErrRelative: the URL has no scheme and there is no base to resolve it against.
	ErrRelative Error = "relative URL without a base"
	// ErrHost: the host is empty, holds a forbidden character, or is not a valid name or address.
	ErrHost Error = "host is not valid"
	// ErrPort: the port is not a number from 0 to 65535.
	ErrPort Error = "port is not valid"
	// ErrTooLong: the normal form is longer than LengthMax, or the input is longer than 8 times LengthMax.
	ErrTooLong Error = "URL is too long"
	// ErrSyntax: the URL cannot be parsed for another reason, for example because base is not a normal form.
	ErrSyntax Error = "syntax is not valid"
)

// Error returns the reason after the name of the package.
func (e Error) Error() string { return "urlx: " + string(e) }

// Reason returns the reason of an error of this package without the package's name, for reports with one line per URL.
// It returns "" for nil, and the whole text of another error.
func Reason(err error) string {
	if err == nil {
		return ""
	}
	var e Error
	if errors.As(err, &e) {
		return string(e)
	}
	return err.Error()
}
