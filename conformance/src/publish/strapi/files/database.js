'use strict';

module.exports = ({ env }) => ({
  connection: {
    client: 'sqlite',
    connection: { filename: env('PEER_DATABASE') },
    useNullAsDefault: true,
  },
});
