<?php
// A meta field that the REST interface shows and takes, as a theme or plugin would register it.
add_action('init', function () {
    register_post_meta('post', '_searchwright_post', [
        'type' => 'string',
        'single' => true,
        'show_in_rest' => true,
        'auth_callback' => fn() => current_user_can('edit_posts'),
    ]);
});
