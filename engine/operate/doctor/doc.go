// Package doctor says what limits a crawl now, with figures and a remedy. It is pure: Diagnose looks at Figures, which
// engine/operate/operator collects from the report, the hosts and the exchanges under way.
//
//	command doctor -> control -> Operator.AnswerQuestion -> Diagnose -> the rows of conditions
//
// conditions is one ordered table. A row has a condition, which may hold together with others. The first one that holds
// is what limits the crawl most; the others are named after it. To add a diagnosis, add a row, with a test that makes
// its condition true.
package doctor
