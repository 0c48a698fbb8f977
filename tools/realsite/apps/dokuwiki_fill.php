<?php
// Saves pages, revision by revision. DokuWiki keeps one revision a second, so all pages get their first one before any gets its second.
define('DOKU_INC', '/usr/share/dokuwiki/');
define('NOSESSION', 1);
require DOKU_INC . 'inc/init.php';

$pages = json_decode(file_get_contents($argv[1]), true);
for ($i = 0, $more = true; $more; $i++) {
	$more = false;
	$began = time();
	foreach ($pages as $page) {
		if (isset($page['texts'][$i])) {
			saveWikiText($page['id'], $page['texts'][$i], 'part ' . ($i + 1));
			$more = true;
		}
	}
	while (time() - $began < 2) {
		usleep(100000);
	}
}
foreach ($pages as $page) {
	idx_addPage($page['id'], false, true);
}
