<?php
// Installs WordPress and writes posts with comments.
$_SERVER['HTTP_HOST'] = $_SERVER['SERVER_NAME'] = 'wordpress.test';
$_SERVER['REQUEST_URI'] = '/';
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
define('WP_INSTALLING', true);
define('WP_SITEURL', 'http://wordpress.test');
require '/usr/share/wordpress/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
add_filter('pre_wp_mail', '__return_false');
wp_install('Releases of Git', 'admin', 'admin@example.org', true, '', 'a long password 1');
wp_delete_post(get_page_by_path('sample-page')->ID, true); // the theme links to no pages
switch_theme('twentytwentyone');
$wp_rewrite->init();
$wp_rewrite->set_permalink_structure('/%year%/%monthnum%/%postname%/');
$wp_rewrite->flush_rules();
update_option('widget_block', array(2 => array('content' => '<!-- wp:calendar /-->'), 3 => array('content' => '<!-- wp:archives /-->'),
	4 => array('content' => '<!-- wp:categories /-->'), 5 => array('content' => '<!-- wp:tag-cloud /-->'),
	6 => array('content' => '<!-- wp:latest-comments /-->'), '_multiwidget' => 1));
update_option('sidebars_widgets', array('wp_inactive_widgets' => array(),
	'sidebar-1' => array('block-2', 'block-3', 'block-4', 'block-5', 'block-6'), 'array_version' => 3));
$wpdb->query('SET autocommit = 0');
foreach (json_decode(file_get_contents($argv[1]), true) as $i => $note) {
	$date = substr(str_replace('T', ' ', $note['date']), 0, 19);
	$id = wp_insert_post(array('post_title' => $note['title'], 'post_content' => $note['text'], 'post_date' => $date, 'post_status' => 'publish',
		'post_author' => 1, 'post_category' => array(wp_create_category($note['group']))), true);
	if (is_wp_error($id)) {
		fwrite(STDERR, $id->get_error_message());
		exit(1);
	}
	wp_set_post_tags($id, array($i % 2 ? 'maintenance' : 'feature', 'decade ' . intdiv($i, 10)));
	$parent = 0;
	for ($j = 0; $j < $i % 4; $j++) {
		$parent = wp_insert_comment(array('comment_post_ID' => $id, 'comment_author' => "Reader $j", 'comment_content' => "Thanks for {$note['title']}, says reader $j.",
			'comment_date' => $date, 'comment_approved' => 1, 'comment_parent' => $parent));
	}
}
$wpdb->query('COMMIT');
