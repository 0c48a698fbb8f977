// Package wall tells the challenges of protection services from pages: "prove that you are a browser", a captcha, a
// block page, a redirect to a consent or log-in page. Such an answer is no page of the site, whatever its status.
//
//	--walls FILE --Compile--> Table: the rules of the file, then those of BuiltIn
//	head and status of an answer --> rules that fit --> body, if one needs it --> service and place of the rule
//
// A rule needs a header field that only the service sends with its walls, or a status that pages do not have and a
// marker in the body. So an ordinary page costs one look at the names of its header fields. The body is searched only
// if field and status match a rule, and only up to bodyMax bytes. A page that speaks of captchas, or has one in a form,
// matches no rule. A user's rule has a field or a status, too.
//
// A redirect is a wall if it leads to a known consent, captcha or log-in page: the part of Location before the query
// tells. A redirect to another log-in page is a wall if the site redirects everything there. That is no rule:
// LeadsToLogIn knows the names of such pages, and site.NoteLogIn counts the URLs that redirect there.
//
// What follows: engine/workers/fetchers makes the outcome wall, engine/net/politeness lets the site wait as after a
// 429, and the record in the archive has the field warc.WallField. A capture with this field is in no index: see
// warc.RecordRead. "orbweaver warc walls" judges the responses of an archive by the same rules.
package wall
