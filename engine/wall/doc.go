// Package wall tells the challenges of protection services from pages: "prove that you are a browser", a captcha, a
// block page. Such an answer is no page of the site, whatever its status.
//
// A rule needs a header field that only the service sends with its walls, or a status that pages do not have and a
// marker in the body. So an ordinary page costs one look at the names of its header fields. The body is searched only
// if field and status match a rule, and only up to bodyMax bytes. A page that speaks of captchas, or has one in a form,
// matches no rule.
//
// What follows: engine/fetchers makes the outcome wall, engine/politeness lets the site wait as after a 429, and the
// record in the archive has the field warc.WallField. A capture with this field is in no index: see warc.RecordRead.
package wall
