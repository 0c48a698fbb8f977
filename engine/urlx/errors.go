package urlx

import "errors"

// Error is one of the reasons why a URL has no normal form. The values are constants: compare with errors.Is or ==.
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
	// ErrTooLong: the normal form is longer than LengthMax, or the input is so long that it is not looked at.
	ErrTooLong Error = "URL is too long"
	// ErrSyntax: the URL cannot be read for another reason; a base that is no normal form is one.
	ErrSyntax Error = "syntax is not valid"
)

// Error returns the reason with the room's name before it.
func (e Error) Error() string { return "urlx: " + string(e) }

// Reason returns the short reason of an error of this package, without the package's name, for reports of one line per
// URL; "" for nil, and the whole text of a foreign error.
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
