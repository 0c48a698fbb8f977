package links

import "orbweaver/internal/outcome"

// What is taken of the body of an answer depends on its status.
//
//   - A page (2xx): all links.
//   - A list of choices (300), or a redirect without a target: all links of HTML. The server offers them.
//   - An error (4xx, 5xx): what a browser needs to show HTML, and where it refreshes to. Its links are not followed.
//     The navigation of an error page is on the other pages, too. Relative links of it lead to ever more errors.

// LeadsOn reports whether the links of an answer with this outcome are followed. Its status may be that of a redirect
// without a target.
func LeadsOn(o outcome.Outcome, status int) bool {
	return o.IsPage(status) || o == outcome.OtherStatus && status >= 300 && status < statusError
}

// IsErrorPage reports whether an answer with this outcome is one that only page requisites are taken of.
func IsErrorPage(o outcome.Outcome, status int) bool { return status >= statusError && o.HasResponse() }

// statusError is the first status of an error.
const statusError = 400

// isSearched reports whether a body of some type is searched.
func isSearched(status int, media []byte) bool {
	return outcome.IsPageStatus(status) || mediaIs(media, "text/html") || mediaIs(media, "application/xhtml+xml")
}
