//! MinHash of the texts of posts, by which near duplicates are found.

use searchwright_contract::ids::PostId;

use crate::{Param, Result, Tx, access::ProjectScope, sql};

/// Number of hashes per text. Of pairs of texts that have half of their shingles in common, all but 1 in 250 share a hash.
pub const MINHASH_LEN: usize = 8;
/// Maximum number of posts that are compared in full.
const MAX_SIMILAR: u32 = 3;

/// Replaces the hashes of a post.
pub async fn save_minhash(tx: &mut Tx, scope: ProjectScope, post: PostId, hashes: &[i64]) -> Result<()> {
    sql("DELETE FROM post_marks WHERE project_id = $1 AND post_id = $2")
        .bind(scope.project())
        .bind(post)
        .execute(tx)
        .await?;
    if hashes.is_empty() {
        return Ok(());
    }
    sql("INSERT INTO post_marks (project_id, post_id, mark) VALUES ($1, $2, $3)")
        .bind(scope.project())
        .bind(post)
        .execute_each(tx, hashes.iter().map(|hash| vec![Param::from(*hash)]).collect())
        .await?;
    Ok(())
}

/// A post that may be a near duplicate: id and text.
pub type SimilarPost = (PostId, String);

macro_rules! similar {
    ($plus:literal) => {
        concat!(
            "SELECT p.id, p.content FROM
               (SELECT post_id, count(*) AS shared FROM post_marks
                WHERE project_id = $1 AND mark IN ($4, $5, $6, $7, $8, $9, $10, $11) AND post_id <> $2 GROUP BY ",
            $plus,
            "post_id) m CROSS JOIN posts p
             WHERE p.project_id = $1 AND p.id = m.post_id AND p.status <> 'archived' ORDER BY m.shared DESC, p.id LIMIT $3"
        )
    };
}

/// Returns the other posts that share the most hashes with a text, without archived ones.
pub async fn find_similar(
    tx: &mut Tx,
    scope: ProjectScope,
    except: PostId,
    hashes: &[i64],
) -> Result<Vec<SimilarPost>> {
    if hashes.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = sql(if tx.is_postgres() {
        similar!("")
    } else {
        // SQLite would read the hashes of all posts, for their order.
        similar!("+")
    })
    .bind(scope.project())
    .bind(except)
    .bind(MAX_SIMILAR);
    for i in 0..MINHASH_LEN {
        statement = statement.bind(hashes.get(i).copied());
    }
    statement.fetch_all(tx, |c| Ok((c.take()?, c.take()?))).await
}
