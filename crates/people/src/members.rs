//! Members of a workspace and invitations to it, as the people in it manage them.

use searchwright_contract::{
    Code, Problem,
    ids::{InvitationId, ProjectId, UserId, WorkspaceId},
    people::Role,
};
use searchwright_outbound::mail::Mail;
use searchwright_store::{
    Error, Tx, account_activity,
    invitations::{self, Invitation, NewInvitation},
    sessions::Session,
    users::{self, User},
    workspaces::{self, Member, WorkspaceOfUser},
};

use super::{
    AccountEntry, Caller, check_email, passwords,
    sessions::{self, RecentSession},
};
use crate::{People, operator::keep_an_owner};
use searchwright_engine::{
    admin::check_name,
    secrets::{self, SecretKind},
};
use searchwright_failure::{Failure, Result, fault};

/// Time for which an invitation is valid.
const INVITATION_MILLIS: i64 = 7 * 24 * 3_600_000;
/// Invitations of a workspace that are open at a time.
const MAX_INVITATIONS: usize = 50;

/// Members of the workspace of a project, as one of them sees it.
#[derive(Debug)]
pub struct Members {
    /// The workspace, with the role of the person who looks.
    pub workspace: WorkspaceOfUser,
    /// All members.
    pub members: Vec<Member>,
    /// Open invitations.
    pub invitations: Vec<Invitation>,
}

impl Members {
    /// Returns whether the person who looks may change members.
    pub fn may_manage(&self) -> bool {
        self.workspace.role >= Role::Admin
    }
}

fn no_project() -> Failure {
    Problem::not_found("project").into()
}

/// Refuses what the role of a person does not permit: admins manage everybody but owners.
async fn need_role(tx: &mut Tx, workspace: WorkspaceId, user: UserId, about: Role) -> Result<()> {
    let own = workspaces::find_role(tx, workspace, user).await?;
    let needed = about.max(Role::Admin);
    if own.is_some_and(|own| own >= needed) {
        return Ok(());
    }
    Err(
        Problem::new(Code::InsufficientRole, format!("this needs the role {needed}"))
            .hint("ask an owner of the workspace")
            .into(),
    )
}

fn invitation_gone() -> Failure {
    Problem::new(
        Code::InvalidState,
        "this invitation is no longer valid: it was used or withdrawn, or its week is over",
    )
    .hint("ask for a new one")
    .into()
}

impl People {
    /// Returns the members of the workspace of a project. Unknown projects and those of others are not told apart.
    pub async fn members(&self, user: UserId, project: ProjectId) -> Result<Members> {
        let now = self.clock.now();
        let mut tx = self.db.read().await?;
        let workspace = workspaces::find_of_project(&mut tx, user, project).await?;
        let workspace = workspace.ok_or_else(no_project)?;
        Ok(Members {
            members: workspaces::list_members(&mut tx, workspace.id).await?,
            invitations: invitations::list(&mut tx, workspace.id, now).await?,
            workspace,
        })
    }

    /// Invites to the workspace of a project, and returns the token for the link.
    pub async fn invite(
        &self,
        by: &RecentSession,
        project: ProjectId,
        role: Role,
        email: &str,
        caller: &Caller,
    ) -> Result<String> {
        let email = match email.trim() {
            "" => None,
            email => Some(check_email(email)?),
        };
        let user = by.user;
        let workspace = workspaces::find_of_project(&mut self.db.read().await?, user, project).await?;
        let workspace = workspace.ok_or_else(no_project)?.id;
        self.store_invitation(workspace, Some(user), role, email, &caller.address)
            .await
    }

    /// Invites to a workspace on behalf of the operator, and returns the token for the link.
    pub async fn invite_as_operator(
        &self,
        workspace: WorkspaceId,
        role: Role,
        email: Option<&str>,
    ) -> Result<String> {
        let email = email.map(check_email).transpose()?;
        self.store_invitation(workspace, None, role, email, "").await
    }

    async fn store_invitation(
        &self,
        workspace: WorkspaceId,
        invited_by: Option<UserId>,
        role: Role,
        email: Option<String>,
        address: &str,
    ) -> Result<String> {
        let (now, token) = (self.clock.now(), secrets::generate(SecretKind::Link)?);
        let detail = email.as_deref().unwrap_or_else(|| role.as_str());
        let entry = AccountEntry {
            action: "invitation.created",
            user: invited_by,
            client: None,
            address,
            detail: Some(detail),
        };
        let entry = self.account_activity(entry, now);
        let new = NewInvitation {
            id: self.clock.id(),
            digest: secrets::digest(&token),
            workspace,
            role,
            email,
            invited_by,
            expires_at: now.plus_millis(INVITATION_MILLIS),
        };
        let work = async move |tx: &mut Tx| {
            workspaces::lock(tx, workspace).await?;
            if let Some(user) = new.invited_by {
                need_role(tx, workspace, user, role).await?;
            }
            if invitations::list(tx, workspace, now).await?.len() >= MAX_INVITATIONS {
                return Err(Problem::new(
                    Code::InvalidState,
                    format!("a workspace has at most {MAX_INVITATIONS} open invitations"),
                )
                .hint("withdraw some")
                .into());
            }
            invitations::create(tx, &new, now).await.map_err(|e| match e {
                Error::Dangling => Failure::from(Problem::new(Code::NotFound, "there is no such workspace")),
                other => other.into(),
            })?;
            account_activity::insert(tx, entry).await?;
            Ok::<_, Failure>(())
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(token)
    }

    /// Mails the link of an invitation. Returns `false` if no SMTP server is set.
    pub async fn mail_invitation(&self, inviter: &Session, token: &str, email: &str) -> Result<bool> {
        let settings = self.accounts();
        let Some(mailer) = &settings.mailer else {
            return Ok(false);
        };
        let text = format!(
            "Hello,\n\n{} ({}) invites you to work with them on {}.\nOpen this address within 7 days to accept:\n\n{}/invitations/{token}\n",
            inviter.user_name, inviter.email, settings.origin, settings.origin
        );
        let mail = Mail {
            to: email.trim(),
            subject: "Invitation to Searchwright",
            text: &text,
        };
        let sent = mailer.send(mail).await;
        sent.map_err(|e| Problem::new(Code::ProviderError, e.to_string()))?;
        Ok(true)
    }

    /// Withdraws an invitation.
    pub async fn withdraw_invitation(
        &self,
        by: &RecentSession,
        project: ProjectId,
        id: InvitationId,
        caller: &Caller,
    ) -> Result<()> {
        let (user, now) = (by.user, self.clock.now());
        let entry = AccountEntry::new("invitation.withdrawn", Some(user), &caller.address);
        let entry = self.account_activity(entry, now);
        let work = async move |tx: &mut Tx| {
            let workspace = workspaces::find_of_project(tx, user, project).await?;
            let workspace = workspace.ok_or_else(no_project)?.id;
            need_role(tx, workspace, user, Role::Admin).await?;
            if invitations::delete(tx, workspace, id).await? {
                account_activity::insert(tx, entry).await?;
            }
            Ok::<_, Failure>(())
        };
        self.db.write(move |tx| Box::pin(work(tx))).await
    }

    /// Changes the role of a member, or removes them (`None`). A person may always leave.
    pub async fn change_member(
        &self,
        by: &RecentSession,
        project: ProjectId,
        member: UserId,
        role: Option<Role>,
        caller: &Caller,
    ) -> Result<()> {
        let (user, now) = (by.user, self.clock.now());
        let entry = AccountEntry {
            action: if role.is_some() {
                "member.set"
            } else {
                "member.removed"
            },
            user: Some(member),
            client: None,
            address: &caller.address,
            detail: role.map(|role| role.as_str()),
        };
        let entry = self.account_activity(entry, now);
        let work = async move |tx: &mut Tx| {
            let workspace = workspaces::find_of_project(tx, user, project).await?;
            let workspace = workspace.ok_or_else(no_project)?.id;
            workspaces::lock(tx, workspace).await?;
            let current = workspaces::find_role(tx, workspace, member).await?;
            let current = current.ok_or_else(|| Problem::new(Code::NotFound, "there is no such member"))?;
            if role.is_some() || member != user {
                need_role(tx, workspace, user, current.max(role.unwrap_or(Role::Viewer))).await?;
            }
            if role != Some(Role::Owner) {
                keep_an_owner(tx, workspace, member).await?;
            }
            match role {
                Some(role) => workspaces::set_member(tx, workspace, member, role, now).await?,
                None => workspaces::remove_member(tx, workspace, member).await?,
            }
            account_activity::insert(tx, entry).await?;
            Ok::<_, Failure>(())
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(self.db.credentials_changed().await?)
    }

    /// Returns an invitation that is valid.
    pub async fn invitation(&self, token: &str) -> Result<Option<Invitation>> {
        if !secrets::is_well_formed(SecretKind::Link, token) {
            return Ok(None);
        }
        let (digest, now) = (secrets::digest(token), self.clock.now());
        Ok(invitations::find(&mut self.db.read().await?, &digest, now).await?)
    }

    /// Makes the person of a session a member. A higher role that they have already stays.
    pub async fn accept_invitation(&self, token: &str, session: &Session, caller: &Caller) -> Result<()> {
        let (digest, now, user, email) = (
            secrets::digest(token),
            self.clock.now(),
            session.user,
            session.email.clone(),
        );
        let entry = self.accepted(user, caller, now);
        let work = async move |tx: &mut Tx| {
            let invitation = invitations::find(tx, &digest, now)
                .await?
                .ok_or_else(invitation_gone)?;
            check_invited(&invitation, &email)?;
            join(tx, &invitation, user, now).await?;
            account_activity::insert(tx, entry).await?;
            Ok::<_, Failure>(())
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(self.db.credentials_changed().await?)
    }

    /// Creates the account of an invited person, makes it a member, and signs it in. Returns the token for the cookie.
    pub async fn accept_invitation_as_new(
        &self,
        token: &str,
        name: &str,
        email: &str,
        password: String,
        caller: &Caller,
    ) -> Result<String> {
        let (name, email) = (check_name(name, 100)?, check_email(email)?);
        if self.invitation(token).await?.is_none() {
            return Err(invitation_gone());
        }
        passwords::check(&password, &[&name, &email, "searchwright"])?;
        let password = Some(self.passwords.hash(password).await?);
        let (digest, now) = (secrets::digest(token), self.clock.now());
        let user = User {
            id: self.clock.id(),
            email,
            name,
            password,
            disabled_at: None,
        };
        let opened = self.new_session(user.id, caller, "invitation", now)?;
        let (cookie, entry) = (opened.token.clone(), self.accepted(user.id, caller, now));
        let work = async move |tx: &mut Tx| {
            let invitation = invitations::find(tx, &digest, now)
                .await?
                .ok_or_else(invitation_gone)?;
            check_invited(&invitation, &user.email)?;
            users::create(tx, &user, now).await.map_err(|e| match e {
                Error::Duplicate(_) => fault(
                    "/email",
                    "already_exists",
                    "has an account here already; sign in, and open the invitation again",
                ),
                other => other.into(),
            })?;
            join(tx, &invitation, user.id, now).await?;
            account_activity::insert(tx, entry).await?;
            sessions::open(tx, opened, None, now).await
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(cookie)
    }

    fn accepted(
        &self,
        user: UserId,
        caller: &Caller,
        now: searchwright_contract::Instant,
    ) -> account_activity::AccountActivity {
        let entry = AccountEntry::new("invitation.accepted", Some(user), &caller.address);
        self.account_activity(entry, now)
    }
}

fn check_invited(invitation: &Invitation, email: &str) -> Result<()> {
    match &invitation.email {
        Some(invited) if invited != email => Err(fault(
            "/email",
            "not_invited",
            format!("has to be {invited}, to which the invitation was made out"),
        )),
        _ => Ok(()),
    }
}

/// Uses up an invitation. It counts only while the person who made it may invite: somebody who was removed has no way back by a
/// link of their own.
async fn join(
    tx: &mut Tx,
    invitation: &Invitation,
    user: UserId,
    now: searchwright_contract::Instant,
) -> Result<()> {
    workspaces::lock(tx, invitation.workspace).await?;
    if let Some(inviter) = invitation.invited_by {
        let is_disabled = users::find(tx, inviter)
            .await?
            .is_none_or(|user| user.disabled_at.is_some());
        let may_invite = need_role(tx, invitation.workspace, inviter, invitation.role).await;
        if is_disabled || may_invite.is_err() {
            return Err(invitation_gone());
        }
    }
    // Of two at once, one deletes it.
    if !invitations::delete(tx, invitation.workspace, invitation.id).await? {
        return Err(invitation_gone());
    }
    let known = workspaces::find_role(tx, invitation.workspace, user).await?;
    let role = known.map_or(invitation.role, |known| known.max(invitation.role));
    Ok(workspaces::set_member(tx, invitation.workspace, user, role, now).await?)
}
